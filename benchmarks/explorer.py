"""Times and bytes of the explorer in a real browser, against bertviz's pages of the same attention.

python -m benchmarks.explorer                            all of it, in about five minutes
python -m benchmarks.explorer --picks 5 --lengths 200    quicker and rougher, and one length

Bytes are what reaches the browser once the page is warm: messages on the web socket and fetches.
Times are the browser's: from the key or the click to the second animation frame after the drawing.
Needs Chromium, bertviz (requirements-dev.txt) and npm, which brings the three scripts that bertviz's
pages would fetch.
"""

import argparse
import random
import tempfile
import time
import timeit
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import torch

from attnviz.canvas.shared import packing
from attnviz.models.catalogue import LoadedModel
from attnviz.models.loading import load
from attnviz.pages.explore.maths import whole_model
from attnviz.runs.model_run import ModelRun, Request, run_model
from benchmarks import budgets, rival
from benchmarks.driving import OVERVIEW, Dragged, Tab, floor
from benchmarks.measuring import machine, risen
from benchmarks.serving import chromium, served
from benchmarks.tables import median, ms, size, table, times

MODEL = "smollm2-135m"
LENGTHS = (20, 200, 1024)
HEADS = 270
LAYER = 13  # the layer to give bertviz when all layers would be too much for it
UNREAD = 5  # new sentences of a length
AGAIN = 6  # how often to request a sentence that was computed before
#: of one token each, at the beginning too
WORDS = """
the cat sat on a mat and then it went home because they were too slow to walk in rain over old bridge near
river where small birds sing early every day while people talk about work food music time house school light
"""


@dataclass(frozen=True)
class Ours:
    """The explorer at one length. Times in milliseconds."""

    tokens: int
    new_bytes: int  #: everything that is sent for a new sentence
    overview_bytes: int  #: the overview's message alone
    new: float  #: from the last key until the overview is painted, including the model's pass
    known: float  #: the same for a sentence that was computed before
    passed: float  #: the model's own pass over that sentence, by the clock on the wall, on one thread
    tiles: float  #: CPU time to compute the overview's pictures
    measures: float  #: CPU time to compute pictures and all measures in one sweep
    pick_bytes: int
    cold: tuple[dict[str, float], ...]  #: heads chosen as the pointer lands on them
    pointed: tuple[dict[str, float], ...]  #: heads that the pointer rested on
    dragged: Dragged  #: the scale of a head
    brushed: Dragged  #: the mask of a head

    def row(self) -> dict[str, str]:
        """Bytes and times in words."""
        return {
            "tokens": str(self.tokens),
            "sent for a new sentence": size(self.new_bytes),
            "of which the overview": size(self.overview_bytes),
            "new sentence painted": ms(self.new),
            "of which the pass": ms(self.passed),
            "earlier sentence painted": ms(self.known),
            "thumbnails, CPU": ms(self.tiles),
            "thumbnails and measures, CPU": ms(self.measures),
            "sent for a head": size(self.pick_bytes),
            "head painted, cold": ms(painted(self.cold)),
            "once pointed at": ms(painted(self.pointed)),
            "until the answer arrives": ms(median(pick["answered"] for pick in self.cold)),
        }


def sentence(tokens: int, seed: int) -> str:
    """A text of exactly so many tokens, in a random order that depends on the seed."""
    return " ".join(random.Random(seed).choices(WORDS.split(), k=tokens))


def ours(tab: Tab, loaded: LoadedModel, tokens: int, picks: int) -> Ours:
    """All measurements for one length, in a page that has been used before."""
    again = AGAIN if tokens < 1000 else 2
    first, second, *others = unread(tokens)
    tab.read(first)
    new = median(tab.read(each)[OVERVIEW] for each in (*others, second))
    sent, own = tab.nbytes, tab.bytes_of("overview")
    known = [tab.read((first, second)[n % 2])[OVERVIEW] for n in range(again)]
    chosen = random.Random(tokens).sample(range(HEADS), 2 * picks)
    cold = [tab.pick(tile) for tile in chosen[::2]]
    carried = tab.nbytes
    pointed = [tab.pick(tile, pointed=True) for tile in chosen[1::2]]
    dragged, brushed = tab.drag(), tab.paint()
    request = Request(MODEL, second)
    passed = 1e3 * median(timeit.repeat(lambda: run_model(request, loaded), number=1, repeat=3))
    tiles, measures = computing(run_model(request, loaded))
    return Ours(
        tokens, sent, own, new, median(known), passed, tiles, measures, carried, tuple(cold), tuple(pointed),
        dragged, brushed,
    )  # fmt: skip


def computing(run: ModelRun) -> tuple[float, float]:
    """CPU milliseconds for the pictures of all heads, and for pictures and all measures in one sweep."""
    stack = run.stacks[0]
    start = time.process_time()
    for layer in whole_model.swept(stack, measured=False):
        packing.thumbnail_codes(layer.largest)
    between = time.process_time()
    for layer in whole_model.swept(stack):
        packing.thumbnail_codes(layer.largest)
    return (between - start) * 1e3, (time.process_time() - between) * 1e3


def unread(tokens: int) -> list[str]:
    """The sentences of a length that are read for the first time, and one to be there before them."""
    many = UNREAD if tokens < 1000 else 1
    return [sentence(tokens, many * tokens + seed) for seed in range(many + 1)]


def clicks(tokens: int, picks: int) -> int:
    """How many heads to click at a length: at few tokens most of the time is where in a frame a click falls."""
    return 5 * picks if tokens <= 20 else picks if tokens < 1000 else 3


def theirs(run: ModelRun, tokens: int, picks: int, folder: Path) -> dict[str, rival.Shown]:
    """bertviz's two pages at one length: with all layers where that is feasible, and with one layer."""
    labels = [f"{label} " for label in run.source.labels]
    layers = [layer.weights() for layer in run.stacks[0].layers]
    wanted: list[tuple[rival.View, list[torch.Tensor]]] = [("model_view", layers)]
    wanted += [("head_view", layers)] if tokens <= 20 else [(view, [layers[LAYER]]) for view in rival.TARGETS]
    found = {}
    for view, shown in wanted:
        path = folder / f"{view}.html"
        rival.write(view, shown, labels, path)
        with chromium() as browser:
            which = [n % (9 * len(shown) if view == "model_view" else 9) for n in range(7, 7 + picks)]
            found[view if len(shown) > 1 else f"{view}, one layer"] = rival.opened(browser, path, view, which)
        path.unlink()
    return found


def painted(picks: Iterable[dict[str, float]]) -> float:
    """The median time until a head was painted."""
    return median(pick["painted"] for pick in picks)


def ratios(our: Ours, name: str, view: rival.Shown) -> dict[str, str]:
    """A page of bertviz's beside what shows the same here: all heads, of an earlier sentence, or one head."""
    pick = painted(our.pointed)
    nbytes, taken = (our.overview_bytes, our.known) if name.startswith("model_view") else (our.pick_bytes, pick)
    theirs = median(view.picks) if view.picks else None
    return {
        "tokens": str(our.tokens),
        "bertviz": name,
        "its bytes": size(view.nbytes),
        "bytes of ours": times(nbytes, view.nbytes),
        "painted": f"{view.painted:.0f} ms" if view.painted else view.why,
        "time of ours": times(taken, view.painted),
        "choose a head": f"{theirs:.0f} ms" if theirs else "",
        "choice of ours": times(pick, theirs),
    }


def met(
    mine: dict[int, Ours], others: dict[int, dict[str, rival.Shown]], empty: float, rise: float | None
) -> Iterator[budgets.Row]:
    """What was to be reached, and what was, beside what an empty page reads on the same clock in the same run."""
    if 20 in mine:
        clicks = {name: median(view.picks) for name, view in others.get(20, {}).items() if view.picks}
        for what, picks in (("once pointed at", mine[20].pointed), ("the pointer just landed", mine[20].cold)):
            yield budgets.above(f"choose a head, 20 tokens, {what}", painted(picks), empty, 8, clicks)
    if 200 in mine:
        yield from met_at_200(mine[200], empty)
    if 1024 in mine:
        what = "thumbnails and all measures of 270 heads, 1,024 tokens, processor time"
        yield budgets.at_most(what, mine[1024].measures, 3000, ms)
    if rise is not None:
        yield budgets.at_most("memory for 1,024 tokens, above the loaded model", rise, 1e9, size)


def met_at_200(ours: Ours, empty: float) -> Iterator[budgets.Row]:
    yield budgets.above("choose a head, 200 tokens, once pointed at", painted(ours.pointed), empty, 20)
    yield budgets.above("choose a head, 200 tokens, cold", painted(ours.cold), empty, 55)
    for what, dragged in (("drag the scale", ours.dragged), ("paint a mask", ours.brushed)):
        yield budgets.spread(f"{what}, 200 tokens, main thread's work a frame", dragged.work, 8, 16)
        yield budgets.spread(f"{what}, 200 tokens, from frame to frame", dragged.frames, 17, 34)
    yield budgets.at_most("overview of a sentence read before, 200 tokens", ours.known, 90, ms)
    new = f"new sentence, 200 tokens, until the overview: the pass ({ms(ours.passed)}) + 250 ms"
    yield budgets.at_most(new, ours.new, ours.passed + 250, ms)
    yield budgets.at_most("bytes of the overview, 200 tokens", ours.overview_bytes, 300_000, size)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--picks", type=int, default=11, help="how many heads to click at each length")
    parser.add_argument("--lengths", type=int, nargs="+", default=LENGTHS, help="lengths of the sentences in tokens")
    asked = parser.parse_args()
    torch.set_num_threads(1)
    loaded = load(MODEL)
    print(machine(), flush=True)
    with chromium() as browser:
        empty = median(floor(browser, clicks(20, asked.picks)))
    print(f"floor: two animation frames after a click on an empty page, {empty:.1f} ms", flush=True)
    mine, rise = app(loaded, asked.lengths, asked.picks)
    print("\n" + table([ours.row() for ours in mine.values()]), flush=True)
    others = beside(loaded, mine, asked.picks)
    pairs = ((tokens, *view) for tokens, views in others.items() for view in views.items())
    print("\n" + table([ratios(mine[tokens], name, view) for tokens, name, view in pairs]))
    print("\n" + table([*met(mine, others, empty, rise)]))
    print(f"at the end: {machine()}")


def app(loaded: LoadedModel, lengths: list[int], picks: int) -> tuple[dict[int, Ours], float | None]:
    """The explorer at each length, and the memory that the server takes for the longest, above the loaded model."""
    with served() as server, chromium() as browser:
        tab = Tab(browser)
        tab.open(f"{server.url}/explore")
        tab.read(sentence(20, 2))  # run one pass, so that the whole model is in memory
        rise: float | None = None
        if 1024 in lengths:
            text = sentence(1024, 1)
            rise = risen(server.process.pid, lambda: (tab.read(text), tab.pick(40)))
        return {tokens: ours(tab, loaded, tokens, clicks(tokens, picks)) for tokens in lengths}, rise


def beside(loaded: LoadedModel, mine: dict[int, Ours], picks: int) -> dict[int, dict[str, rival.Shown]]:
    """bertviz at the same lengths, after the app's server has ended."""
    others = {}
    with tempfile.TemporaryDirectory() as folder:
        rival.scripts(Path(folder))
        for tokens in (tokens for tokens in mine if tokens < 1000):  # 270 MB even of one layer
            run = run_model(Request(MODEL, unread(tokens)[1]), loaded)
            others[tokens] = theirs(run, tokens, clicks(tokens, picks), Path(folder))
    return others


if __name__ == "__main__":
    main()
