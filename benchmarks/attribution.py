"""Why a token: 23 questions asked of attnviz and of TransformerLens in one run, for docs/developing/benchmarks.md.

    python -m benchmarks.attribution

The model is a GPT-2 of random weights, the prompts have 32 tokens. Each program is a function of `benchmarks.tasks`,
run once its library is imported and holds the model; the lines of its body are counted. Times are CPU time on one
thread, measured in turns; memory is how far the process rises above what it held before the call. The last three are
asked of nnsight, too, where that is installed.
"""

import inspect
import sys
import tempfile
import warnings
from collections.abc import Callable
from copy import deepcopy
from functools import partial
from importlib import import_module
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from statistics import median
from typing import Any

import torch
from torch import Tensor
from transformers import GPT2Config, GPT2LMHeadModel

from benchmarks.harness import machine, ms, ratio, risen, rounds, size, table
from benchmarks.tasks import in_attnviz
from tests.models.tiny import VOCAB
from tests.notebook.transformer_lens_side import bridge

LAYERS, HEADS, TOKENS, ROUNDS = 6, 8, 32, 5
OURS, LENS, NNSIGHT = "attnviz", "transformer_lens", "nnsight"
Program = Callable[[Any, Tensor, Tensor], Any]


def gpt2() -> GPT2LMHeadModel:
    """Random weights that read no mean from the stream, since TransformerLens's composition scores take none off."""
    torch.manual_seed(0)
    config = GPT2Config(n_layer=LAYERS, n_head=HEADS, n_embd=64 * HEADS, n_positions=96, vocab_size=VOCAB)
    config.initializer_range, config.bos_token_id, config.eos_token_id = 0.1, 0, 0
    model = GPT2LMHeadModel(config).eval()
    for block in model.transformer.h:
        block.attn.c_attn.weight.data -= block.attn.c_attn.weight.mean(0)
    return model


def questions() -> list[str]:
    """The names that the functions share, in their order."""
    return [name for name, held in vars(in_attnviz).items() if getattr(held, "__module__", "") == in_attnviz.__name__]


def lines(program: Program) -> int:
    """The lines of a program's body."""
    return len([line for line in inspect.getsource(program).splitlines()[1:] if line.strip()])


def program_of(tool: str, question: str) -> Program:
    """The function that answers a question with a tool."""
    return getattr(import_module(f"benchmarks.tasks.in_{tool}"), question)


def compared(question: str, holders: dict[str, Any], prompts: tuple[Tensor, Tensor]) -> dict[str, str]:
    """One row: what each tool needs, and how far what it found is from what attnviz found."""
    calls: dict[str, Callable[[], Any]] = {
        tool: partial(program_of(tool, question), held, *prompts)
        for tool, held in holders.items()
        if hasattr(import_module(f"benchmarks.tasks.in_{tool}"), question)
    }
    taken, found = rounds(calls, ROUNDS), {tool: call().detach().nan_to_num(neginf=0.0) for tool, call in calls.items()}
    row = {"what": question.replace("_s_", "'s ").replace("_", " ")}
    row |= {f"lines, {tool}": str(lines(program_of(tool, question))) for tool in calls}
    row["CPU time"] = ms(1e3 * median(taken[OURS]))
    row |= {f"{tool}, x ours": f"{ratio(taken[tool], taken[OURS]):.1f}" for tool in calls if tool != OURS}
    row |= {f"memory, {tool}": size(risen(call)) for tool, call in calls.items()}
    row |= {
        f"difference, {tool}": f"{float((found[tool] - found[OURS]).abs().max()):.0e}" for tool in calls if tool != OURS
    }
    return row | {"of": f"{float(found[OURS].abs().max()):.2g}"}


def prompts() -> tuple[Tensor, Tensor]:
    """Two prompts, no token twice in one: a repeated one is an induction head's as well."""
    ids, other = (1 + torch.randperm(VOCAB - 1)[None, :TOKENS] for _ in range(2))
    return ids, other


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    model = gpt2()
    tools = [LENS] + [NNSIGHT] * (find_spec(NNSIGHT) is not None)
    print(*(f"{tool} {version(tool)}" for tool in tools))
    with tempfile.TemporaryDirectory() as folder:
        holders, both = {OURS: model, LENS: bridge(model, Path(folder))}, prompts()
        if NNSIGHT in tools:
            holders[NNSIGHT] = import_module(NNSIGHT).NNsight(deepcopy(model))
        print(
            machine(),
            table([compared(question, holders, both) for question in sys.argv[1:] or questions()]),
            sep="\n\n",
        )
