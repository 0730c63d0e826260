"""Long texts: what capture and its readers take from 1,024 to 8,192 tokens, and what grows with n or with n².

    python -m benchmarks.long

The model is SmolLM2 with its trained weights and the chapter of a novel, repeated where it is too short. All times of
a length are CPU times of one thread in one process, of which the ratios count; memory is the rise of the resident set
at its peak in a process of its own. `--layers 4` measures the first four of 30 layers: ratios are those of a layer.
"""

import argparse
import subprocess
import sys
from collections.abc import Callable
from importlib.resources import files
from math import log2
from statistics import median

import torch
from transformers import LlamaModel

from attnviz.analysis.heads.scan import scan
from attnviz.analysis.long_text import head_vectors, make_overview, make_tile, sample_heads
from attnviz.models.capture import Trace, capture, intervene, knockout
from attnviz.models.loading import load
from benchmarks.capture import run_eager, run_plain
from benchmarks.harness import Row, at_most, machine, risen, rounds, size, table

PATTERNS = ("previous_token", "induction", "duplicate_token")
EAGER_UP_TO = 2_048  #: tokens: at 4,096 and 270 heads the eager path's weights are 18 GB
UNIT = 20  #: tokens of a sentence, about
AT = (0, 1, 3)  #: layer, head and key of what is looked at and changed


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lengths", type=int, nargs="+", default=[1024, 2048, 4096, 8192])
    parser.add_argument("--layers", type=int, default=30)
    parser.add_argument("--times", type=int, default=1, help="rounds after one warm-up")
    parser.add_argument("--only", help=argparse.SUPPRESS)  # for internal use: measure the memory of one reader
    given = parser.parse_args()
    torch.set_num_threads(1)
    model, ids = smollm2(given.layers)
    if given.only:
        print(memory_of(given.only, model, ids[:, : given.lengths[0]]))
        return
    print(f"SmolLM2-135M, {given.layers} of 30 layers, float32, on {machine()}", flush=True)
    measured: dict[int, dict[str, float]] = {}
    for length in given.lengths:
        measured[length] = measure_times(model, ids[:, :length], given.times)
        peaks = {
            name: peak(name, length, given.layers) for name in measured[length] if name in ("plain", "capture", "edit")
        }
        print(
            f"\n{length:,} tokens\n", table(rows(measured[length], peaks, model, ids[:, :length])), sep="\n", flush=True
        )
    first, last = given.lengths[0], given.lengths[-1]
    if first < last:
        print("\nGrowth", table(growth(measured[first], measured[last], last / first)), sep="\n\n")


def smollm2(layers: int) -> tuple[LlamaModel, torch.Tensor]:
    """The model without its output layer, with its first layers, and 8,192 token ids of a novel."""
    loaded = load("smollm2-135m")
    model: LlamaModel = loaded.model.model
    model.set_attn_implementation("sdpa")
    model.layers = model.layers[:layers]
    text = (files("attnviz.pages.explore.maths") / "data" / "alice.txt").read_text("utf-8")
    ids = loaded.tokenizer(text, return_tensors="pt")["input_ids"]  # type: ignore[misc]
    return model, ids.repeat(1, -(-8192 // ids.shape[1]))[:, :8192]


def passes(model: LlamaModel, ids: torch.Tensor) -> dict[str, Callable[[], object]]:
    """What runs the model: each as a function without arguments."""
    edit = knockout(AT[0], AT[1], queries=-1, keys=AT[2])
    return {
        "plain": lambda: run_plain(model, ids),
        "capture": lambda: capture(model, input_ids=ids, logits=None),
        "edit": lambda: intervene(model, edit, input_ids=ids, logits=None),
        "find_heads": lambda: list(scan(model, ids, PATTERNS)),
    } | ({"eager": lambda: run_eager(model, ids)} if ids.shape[1] <= EAGER_UP_TO else {})


def readers(trace: Trace) -> dict[str, Callable[[], object]]:
    """What reads a trace: each as a function without arguments."""
    layer, head, n = trace[AT[0]], AT[1], trace[0].shape[3]
    overview = make_overview(layer, head)
    return {
        "one head": lambda: layer.weights(head),
        "overview of a head": lambda: make_overview(layer, head),
        "small pictures of all heads": lambda: sample_heads(trace.layers),
        "a tile of 256 x 256": lambda: make_tile(layer, head, overview.lse, 1, 0, 0),
        "last row of all heads": lambda: trace.row(-1),
        "pooled": lambda: trace.pooled([(at, min(at + UNIT, n)) for at in range(0, n, UNIT)]),
        "profiles": lambda: trace.profiles(),
    }


def measure_times(model: LlamaModel, ids: torch.Tensor, times: int) -> dict[str, float]:
    """Median seconds of every pass and reader; `find_heads` without the pass that it begins with."""
    taken = rounds(passes(model, ids), times)
    taken |= rounds(readers(capture(model, input_ids=ids, logits=None)), times)
    middle = {name: median(each) for name, each in taken.items()}
    return middle | {"find_heads": middle["find_heads"] - middle["capture"]}


def rows(taken: dict[str, float], peaks: dict[str, int], model: LlamaModel, ids: torch.Tensor) -> list[Row]:
    """Times as ratios, beside what is to be reached; then memory and bytes."""
    plain, whole = taken["plain"], taken["capture"]
    trace = capture(model, input_ids=ids, logits=None)
    overview = make_overview(trace[AT[0]], AT[1])
    vectors = [head_vectors(trace[AT[0]], AT[1], kind, 0) for kind in "qk"]

    def share(what: str, value: float, most: float, of: str) -> Row:
        return at_most(
            f"{what} ({value * {'plain': plain, 'capture': whole}[of]:.2f} s)", value, most, "{:.2f}x".format
        ) | {"of": of}

    shares = [
        share("capture", whole / plain, 1.1, "plain"),
        share("a cell of a head hidden", taken["edit"] / plain, 1.3, "plain"),
        share("profiles", taken["profiles"] / whole, 1.5, "capture"),
        share("find_heads, after its capture", taken["find_heads"] / whole, 1.0, "capture"),
    ]
    others = [
        {"what": name, "reached": f"{taken[name]:.3f} s"}
        for name in taken
        if name not in ("plain", "capture", "edit", "profiles", "find_heads")
    ]
    qkv = trace.nbytes + peaks["plain"]  # a tenth more is what the kernel's count of pages differs by
    memory = [at_most("memory of capture: a plain pass's, and q, k and v", peaks["capture"], 1.1 * qkv, size)]
    memory += [at_most("memory of that edit: as of capture", peaks["edit"], 1.1 * peaks["capture"], size)]
    sent = overview.codes.nbytes + overview.lse.nbytes
    bytes_sent = [
        {"what": "to the browser: an overview with its log-sum-exp", "reached": size(sent)},
        {"what": "to the browser: q and k of a tile", "reached": size(sum(each.nbytes for each in vectors))},
    ]
    return [*shares, *others, *memory, *bytes_sent]


def growth(first: dict[str, float], last: dict[str, float], factor: float) -> list[Row]:
    """By which power of the length each time grows, in words: about 1 is n, about 2 is n²."""
    powers = {name: log2(last[name] / first[name]) / log2(factor) for name in first if name in last and first[name] > 0}
    named = ((0.5, "hardly grows"), (1.3, "grows with n"), (1.7, "between n and n²"), (9.9, "grows with n²"))
    return [
        {"what": name, "power": f"{power:.1f}", "": next(words for most, words in named if power <= most)}
        for name, power in sorted(powers.items(), key=lambda item: item[1])
    ]


def peak(name: str, length: int, layers: int) -> int:
    """Peak extra memory of one pass in bytes, measured in a fresh process."""
    options = ["--only", name, "--lengths", str(length), "--layers", str(layers)]
    command = [sys.executable, "-m", "benchmarks.long", *options]
    return int(subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()[-1])


def memory_of(name: str, model: LlamaModel, ids: torch.Tensor) -> int:
    """Peak extra memory of one pass in bytes, after a warm-up, so that torch's one-time allocations are not counted."""
    passes(model, ids[:, :64])[name]()
    return risen(passes(model, ids)[name])


if __name__ == "__main__":
    main()
