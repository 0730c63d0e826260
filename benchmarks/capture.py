"""Time and peak extra memory of capture against a plain pass, the eager path and bertviz, as ratios.

    python -m benchmarks.capture                                    # SmolLM2's trained weights
    python -m benchmarks.capture --startup                          # import, first load, second load

None of the four computes logits. Times are measured in turns within one process, as CPU time of one thread;
peak memory is measured in a separate process for each.
"""

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from statistics import median
from typing import Any

import torch
from transformers import LlamaModel

from attnviz.canvas.shared import packing
from attnviz.models.capture import capture, sweep, yardstick
from attnviz.models.loading import load
from benchmarks.measuring import machine, peak_extra_bytes, ratio, rounds, seconds

ROUNDS = 7
BERTVIZ_UP_TO = 512  #: tokens: at 2,048 and 270 heads, bertviz's lists of Python floats would need about 40 GB

#: what is imported first and not counted, and what is timed
TIMED = """
{before}
import time
start = time.perf_counter()
{timed}
print(time.perf_counter() - start)
"""
IMPORTS = (
    "import attnviz",
    "import attnviz.models.loading.locate",
    "import torch",
    "import attnviz.models.capture.run",
    "from transformers import AutoTokenizer, LlamaForCausalLM",
)
LOADER = "from transformers import AutoTokenizer, LlamaForCausalLM\nfrom attnviz.models.loading.load_model import load"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lengths", type=int, nargs="+", default=[64, 512, 2048])
    parser.add_argument("--startup", action="store_true")
    parser.add_argument("--only", help=argparse.SUPPRESS)  # for internal use: measure the memory of one way
    given = parser.parse_args()
    torch.set_num_threads(1)
    if given.startup:
        print(startup())
    elif given.only:
        print(memory_of(given.only, given.lengths[0]))
    else:
        print(f"SmolLM2-135M, float32, on {machine()}\n")
        print("| tokens | way | median time | x plain | peak extra memory | x ours |\n|---|---|---|---|---|---|")
        for length in given.lengths:
            print("\n".join(rows(length)), flush=True)
        print()
        for length in given.lengths:
            print(on_demand(length), flush=True)


def rows(length: int) -> list[str]:
    """The table's rows for `length` tokens: the time and memory of each way, and both as ratios."""
    every = ways(smollm2(), length)
    calls = {name: every[name] for name in ("plain", "ours", "eager")}
    taken = rounds(calls, max(3, ROUNDS * 512 // max(length, 512)))
    plain = taken["plain"]
    if length <= BERTVIZ_UP_TO:
        taken["bertviz"] = [seconds(every["bertviz"])]
    lines = []
    del calls, every
    peaks = {name: peak(name, length) for name in taken}
    for name, times in taken.items():
        against = ratio(times, plain) if len(times) == len(plain) else median(times) / median(plain)
        share = peaks[name] / peaks["ours"]
        size = f"{peaks[name] / 2**20:,.0f} MiB"
        lines.append(f"| {length:,} | {name} | {median(times):.3f} s | {against:.2f} | {size} | {share:.2f} |")
    return lines


def drawn(length: int) -> torch.Tensor:
    """So many tokens, always the same."""
    return torch.randint(10, 40_000, (1, length), generator=torch.Generator().manual_seed(0))


def ways(model: LlamaModel, length: int) -> dict[str, Callable[[], object]]:
    """The four ways to compute the same attention, each as a function without arguments."""
    ids = drawn(length)

    def plain() -> object:
        with torch.no_grad():
            return model(input_ids=ids, use_cache=False).last_hidden_state

    def ours() -> object:
        return capture(model, input_ids=ids, logits=None)

    def reported() -> Any:
        model.set_attn_implementation("eager")
        try:
            with torch.no_grad():
                return model(input_ids=ids, use_cache=False, output_attentions=True)
        finally:
            model.set_attn_implementation("sdpa")

    def bertviz() -> object:
        from bertviz import model_view

        return model_view(reported().attentions, [str(n) for n in range(length)], html_action="return")

    return {"plain": plain, "ours": ours, "eager": reported, "bertviz": bertviz}


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
    return peak_extra_bytes(ways(model, length)[name])


def on_demand(length: int) -> str:
    """Times of what a recorded trace can compute without running the model again, as one line."""
    ids = drawn(length)
    trace = capture(smollm2(), input_ids=ids, logits=None)
    layer = trace.layers[len(trace.layers) // 2]

    calls: dict[str, Callable[[], object]] = {
        "one head": lambda: layer.weights(0),
        "one head without its mask and scale": lambda: layer.weights(0, mask=None, scale=None),
        "thumbnails and measures of all heads": lambda: [
            packing.thumbnail_codes(sweep(layer, yardstick(layer, ids)).largest.cpu().numpy()) for layer in trace.layers
        ],
    }
    taken = rounds(calls, 3)
    spent = ", ".join(f"{name} {median(times) * 1000:,.1f} ms" for name, times in taken.items())
    return f"{length:,} tokens: trace {trace.nbytes / 2**20:,.0f} MiB; {spent}"


def startup() -> str:
    """Imports, and the first and second load of SmolLM2, each in a process of its own: a line each.

    The files of the packages are in the system's file cache already.
    """
    lines = [f"{line}: {min(seconds_of(line) for _ in range(2)):.2f} s" for line in IMPORTS]
    states = seconds_of("availabilities()", "from attnviz.models.loading.locate import availabilities")
    lines.append(f"states of all models, nothing downloaded: {states * 1000:.0f} ms")
    with tempfile.TemporaryDirectory() as folder:
        first, *later = (seconds_of("load('smollm2-135m')", LOADER, ATTNVIZ_CACHE=folder) for _ in range(4))
    lines.append(f"first load of SmolLM2, converted and checked: {first:.2f} s")
    lines.append(f"second load, from the cache: {min(later):.2f} s (best of 3)")
    return "\n".join(lines)


def seconds_of(timed: str, before: str = "", **environment: str) -> float:
    """Seconds of these lines in a new process, after others that are not counted."""
    code = TIMED.format(before=before, timed=timed)
    command, env = [sys.executable, "-c", code], os.environ | environment
    done = subprocess.run(command, check=True, capture_output=True, text=True, env=env)
    return float(done.stdout.split()[-1])


if __name__ == "__main__":
    main()
