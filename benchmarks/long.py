"""Long texts: what capture and its readers take from 1,024 to 8,192 tokens, and what grows with n or with n².

    python -m benchmarks.long
    python -m benchmarks.long --browser

The model is SmolLM2 with its trained weights and the chapter of a novel, repeated where it is too short. All times of
a length are CPU times of one thread in one process, of which the ratios count; memory is the rise of the resident set
at its peak in a process of its own. `--layers 4` measures the first four of 30 layers: ratios are those of a layer.
Memory is given as it is, and with what glibc's heap keeps of freed blocks given back at once, which costs time.
`--browser` zooms and moves the chapter's picture in the app: frames, tiles that were missing, memory.
"""

import argparse
import os
import subprocess
import sys
from collections.abc import Callable
from importlib.resources import files
from math import log2
from statistics import median
from typing import Any

import torch
from transformers import LlamaModel

from attnviz.analysis.heads.scan import scan
from attnviz.analysis.long_text import head_vectors, make_overview, make_tile, sample_heads
from attnviz.models.capture import Trace, capture, intervene, knockout
from attnviz.models.loading import load
from benchmarks.capture import run_eager, run_plain
from benchmarks.driving import FRAME, Tab, traced, worked
from benchmarks.harness import (
    Row,
    at_most,
    chromium,
    late,
    machine,
    memory,
    ms,
    risen,
    rounds,
    served,
    size,
    spread,
    table,
)

PATTERNS = ("previous_token", "induction", "duplicate_token")
EAGER_UP_TO = 2_048  #: tokens: at 4,096 and 270 heads the eager path's weights are 18 GB
UNIT = 20  #: tokens of a sentence, about
AT = (0, 1, 3)  #: layer, head and key of what is looked at and changed
TIDY = {"MALLOC_MMAP_THRESHOLD_": "131072"}  #: glibc gives freed blocks back, whose holes else count as memory
#: what the page says that it has measured: milliseconds by name
MEASURED = """
window.measured = {};
const measure = performance.measure.bind(performance);
performance.measure = (name, options) => {
  (measured[name] ??= []).push(performance.now() - options.start);
  return measure(name, options);
};
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lengths", type=int, nargs="+", default=[1024, 2048, 4096, 8192])
    parser.add_argument("--layers", type=int, default=30)
    parser.add_argument("--times", type=int, default=1, help="rounds after one warm-up")
    parser.add_argument("--browser", action="store_true", help="measure the picture in the app instead")
    parser.add_argument("--only", help=argparse.SUPPRESS)  # for internal use: measure the memory of one reader
    given = parser.parse_args()
    if given.browser:
        print(f"Alice, chapters I and II, on {machine()}", table(browser_rows()), sep="\n\n")
        return
    torch.set_num_threads(1)
    model, ids = smollm2(given.layers)
    if given.only:
        print(memory_of(given.only, model, ids[:, : given.lengths[0]]))
        return
    print(f"SmolLM2-135M, {given.layers} of 30 layers, float32, on {machine()}", flush=True)
    measured: dict[int, dict[str, float]] = {}
    for length in given.lengths:
        measured[length] = measure_times(model, ids[:, :length], given.times)
        peaks = {name: peak(name, length, given.layers) for name in ("plain", "capture", "edit")}
        peaks |= {f"{name}, tidy": peak(name, length, given.layers, TIDY) for name in peaks}
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
    held: list[Row] = []
    for tidy in ("", ", tidy"):  # a tenth more is what the kernel's count of pages differs by
        qkv, whole, edit = trace.nbytes + peaks[f"plain{tidy}"], peaks[f"capture{tidy}"], peaks[f"edit{tidy}"]
        held += [at_most(f"memory of capture{tidy}: a plain pass's, and q, k and v", whole, 1.1 * qkv, size)]
        held += [at_most(f"memory of that edit{tidy}: as of capture", edit, 1.1 * whole, size)]
    sent = overview.codes.nbytes + overview.lse.nbytes
    bytes_sent = [
        {"what": "to the browser: an overview with its log-sum-exp", "reached": size(sent)},
        {"what": "to the browser: q and k of a tile", "reached": size(sum(each.nbytes for each in vectors))},
    ]
    return [*shares, *others, *held, *bytes_sent]


def growth(first: dict[str, float], last: dict[str, float], factor: float) -> list[Row]:
    """By which power of the length each time grows, in words: about 1 is n, about 2 is n²."""
    powers = {name: log2(last[name] / first[name]) / log2(factor) for name in first if name in last and first[name] > 0}
    named = ((0.5, "hardly grows"), (1.3, "grows with n"), (1.7, "between n and n²"), (9.9, "grows with n²"))
    return [
        {"what": name, "power": f"{power:.1f}", "": next(words for most, words in named if power <= most)}
        for name, power in sorted(powers.items(), key=lambda item: item[1])
    ]


def peak(name: str, length: int, layers: int, settings: dict[str, str] | None = None) -> int:
    """Peak extra memory of one pass in bytes, measured in a fresh process with these environment variables."""
    options = ["--only", name, "--lengths", str(length), "--layers", str(layers)]
    command = [sys.executable, "-m", "benchmarks.long", *options]
    env = os.environ | (settings or {})
    return int(subprocess.run(command, check=True, capture_output=True, text=True, env=env).stdout.split()[-1])


def memory_of(name: str, model: LlamaModel, ids: torch.Tensor) -> int:
    """Peak extra memory of one pass in bytes, after a warm-up, so that torch's one-time allocations are not counted."""
    passes(model, ids[:, :64])[name]()
    return risen(passes(model, ids)[name])


def browser_rows() -> list[Row]:
    """Frames of zooming and moving, tiles that were missing, and memory, in the app with the chapter."""
    with served() as server, chromium() as browser:
        before, tab = memory(server.process.pid, "VmRSS"), Tab(browser)
        tab.page.add_init_script(MEASURED)
        tab.page.goto(f"{server.url}/explore?doc=alice")
        tab.page.locator("[data-head]").wait_for(state="attached", timeout=600_000)
        tab.page.wait_for_timeout(5000)
        frames = worked(traced(tab.page, lambda: look_around(tab.page)), "attnviz-pyramid")
        tiles = tab.page.evaluate("measured['attnviz-tile']")
        heap = tab.page.evaluate("performance.memory.usedJSHeapSize")
        risen_by = memory(server.process.pid, "VmRSS") - before
    return [
        spread("the main thread's time in a frame of zooming or moving", frames, 16, 16),
        at_most(f"a missing tile, median of {len(tiles)}", median(tiles), 100, ms),
        {"what": "the slowest twentieth of them, from", "reached": ms(late(tiles))},
        {"what": "memory of the page's scripts", "reached": size(heap)},
        {"what": "memory of the server over an empty one, the model included", "reached": size(risen_by)},
    ]


def look_around(page: Any) -> None:
    """Zoom from the whole chapter to a cell at three places, move there, and go back."""
    box = page.get_by_test_id("pyramid").bounding_box()
    for share in (0.4, 0.6, 0.8):
        x, y = (box[at] + box[side] * (0.3 + share * 0.6) for at, side in (("x", "width"), ("y", "height")))
        page.mouse.move(x, y)
        for turn in [-120] * 25 + [120] * 25:
            page.mouse.wheel(0, turn)
            page.wait_for_timeout(2 * FRAME)
            if turn < 0:
                continue
            page.mouse.down()
            for step in range(4):
                page.mouse.move(x + 6 * step, y + 4 * step)
                page.wait_for_timeout(FRAME)
            page.mouse.up()
            page.mouse.move(x, y)


if __name__ == "__main__":
    main()
