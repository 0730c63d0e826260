"""Time and peak extra memory of capture against a plain pass, the eager path and bertviz, as ratios.

    python -m benchmarks.capture

The model is SmolLM2 with its trained weights; none of the four computes logits. Times are measured in turns within one
process, as CPU time of one thread; peak memory is measured in a separate process for each.
"""

import argparse
import subprocess
import sys
from collections.abc import Callable
from statistics import median
from typing import Any

import torch
from transformers import LlamaModel

from attnviz.models.capture import capture
from attnviz.models.loading import load
from benchmarks.harness import Row, machine, ratio, risen, rounds, seconds, table

ROUNDS = 7
BERTVIZ_UP_TO = 512  #: tokens: at 2,048 and 270 heads, bertviz's lists of Python floats would need about 36 GB


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lengths", type=int, nargs="+", default=[64, 512, 2048])
    parser.add_argument("--only", help=argparse.SUPPRESS)  # for internal use: measure the memory of one way
    given = parser.parse_args()
    torch.set_num_threads(1)
    if given.only:
        print(memory_of(given.only, given.lengths[0]))
    else:
        rows_of_all = [row for length in given.lengths for row in rows(length)]
        print(f"SmolLM2-135M, float32, on {machine()}", table(rows_of_all), sep="\n\n")


def rows(length: int) -> list[Row]:
    """The table's rows for `length` tokens: the time and memory of each way, and both as ratios."""
    every = ways(smollm2(), length)
    calls = {name: every[name] for name in ("plain", "ours", "eager")}
    taken = rounds(calls, max(3, ROUNDS * 512 // max(length, 512)))
    plain = taken["plain"]
    if length <= BERTVIZ_UP_TO:
        taken["bertviz"] = [seconds(every["bertviz"])]
    del calls, every
    peaks = {name: peak(name, length) for name in taken}
    return [
        {
            "tokens": f"{length:,}",
            "way": name,
            "CPU time": f"{median(times):.3f} s",
            "x plain": f"{ratio(times, plain) if len(times) == len(plain) else median(times) / median(plain):.2f}",
            "peak extra memory": f"{peaks[name] / 2**20:,.0f} MiB",
            "x ours": f"{peaks[name] / peaks['ours']:.2f}",
        }
        for name, times in taken.items()
    ]


def ways(model: LlamaModel, length: int) -> dict[str, Callable[[], object]]:
    """The four ways to compute the same attention, each as a function without arguments."""
    ids = torch.randint(10, 40_000, (1, length), generator=torch.Generator().manual_seed(0))

    def ours() -> object:
        return capture(model, input_ids=ids, logits=None)

    def bertviz() -> object:
        from bertviz import model_view

        weights = run_eager(model, ids).attentions
        return model_view(weights, [str(n) for n in range(length)], html_action="return")

    return {
        "plain": lambda: run_plain(model, ids),
        "ours": ours,
        "eager": lambda: run_eager(model, ids),
        "bertviz": bertviz,
    }


def run_plain(model: LlamaModel, ids: torch.Tensor) -> object:
    """The last hidden states of a pass as it is without us."""
    with torch.no_grad():
        return model(input_ids=ids, use_cache=False).last_hidden_state


def run_eager(model: LlamaModel, ids: torch.Tensor) -> Any:
    """The output of a pass on the eager path, with the weights that it reports."""
    model.set_attn_implementation("eager")
    try:
        with torch.no_grad():
            return model(input_ids=ids, use_cache=False, output_attentions=True)
    finally:
        model.set_attn_implementation("sdpa")


def smollm2() -> LlamaModel:
    """The model without its output layer."""
    model: LlamaModel = load("smollm2-135m").model.model
    model.set_attn_implementation("sdpa")
    return model


def peak(name: str, length: int) -> int:
    """Peak extra memory of one way in bytes, measured in a fresh process."""
    command = [sys.executable, "-m", "benchmarks.capture", "--only", name, "--lengths", str(length)]
    return int(subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()[-1])


def memory_of(name: str, length: int) -> int:
    """Peak extra memory of one way in bytes, after a warm-up, so that torch's one-time allocations are not counted."""
    model = smollm2()
    ways(model, 16)[name]()
    return risen(ways(model, length)[name])


if __name__ == "__main__":
    main()
