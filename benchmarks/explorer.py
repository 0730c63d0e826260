"""Times and bytes of the explorer in a real browser, and the bytes of bertviz's pages of the same attention.

python -m benchmarks.explorer                            all of it, in about three minutes
python -m benchmarks.explorer --picks 5 --lengths 200    quicker and rougher, and one length

Bytes are what reaches the browser once the page is warm: messages on the web socket and fetches.
Times are the browser's: from the key or the click to the second animation frame after the drawing.
Needs Chromium and bertviz (requirements-dev.txt).
"""

import argparse
import random
import timeit
from collections.abc import Iterator
from dataclasses import dataclass
from statistics import median

import bertviz
import torch

from attnviz.analysis.model_run import Request, run_model
from attnviz.models.catalogue import LoadedModel
from attnviz.models.loading import load
from benchmarks.driving import OVERVIEW, Tab, floor
from benchmarks.harness import Row, above, at_most, chromium, machine, ms, served, size, spread, table, times

MODEL = "smollm2-135m"
LENGTHS = (20, 200)
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
    pick_bytes: int
    cold: float  #: until a head is painted that is chosen as the pointer lands on it
    pointed: float  #: the same for a head that the pointer rested on
    dragged: list[float]  #: of the main thread's processor time in each frame in which a head's scale moved

    def row(self) -> Row:
        """Bytes and times in words."""
        return {
            "tokens": str(self.tokens),
            "sent for a new sentence": size(self.new_bytes),
            "of which the overview": size(self.overview_bytes),
            "new sentence painted": ms(self.new),
            "of which the pass": ms(self.passed),
            "earlier sentence painted": ms(self.known),
            "sent for a head": size(self.pick_bytes),
            "head painted, cold": ms(self.cold),
            "once pointed at": ms(self.pointed),
        }


def sentence(tokens: int, seed: int) -> str:
    """A text of exactly so many tokens, in a random order that depends on the seed."""
    return " ".join(random.Random(seed).choices(WORDS.split(), k=tokens))


def unread(tokens: int) -> list[str]:
    """The sentences of a length that are read for the first time, and one to be there before them."""
    return [sentence(tokens, UNREAD * tokens + seed) for seed in range(UNREAD + 1)]


def ours(tab: Tab, loaded: LoadedModel, tokens: int, picks: int) -> Ours:
    """All measurements for one length, in a page that has been used before."""
    first, second, *others = unread(tokens)
    tab.read(first)
    new = median(tab.read(each)[OVERVIEW] for each in (*others, second))
    sent, own = tab.nbytes, tab.bytes_of("overview")
    known = median(tab.read((first, second)[n % 2])[OVERVIEW] for n in range(AGAIN))
    chosen = random.Random(tokens).sample(range(HEADS), 2 * picks)
    cold = median([tab.pick(tile) for tile in chosen[::2]])
    carried = tab.nbytes
    pointed = median(tab.pick(tile, pointed=True) for tile in chosen[1::2])
    request = Request(MODEL, second)
    passed = 1e3 * median(timeit.repeat(lambda: run_model(request, loaded), number=1, repeat=3))
    return Ours(tokens, sent, own, new, known, passed, carried, cold, pointed, tab.drag())


def beside(ours: Ours, loaded: LoadedModel) -> Iterator[Row]:
    """bertviz's two pages at one length, with all layers where that is feasible, beside what shows the same here."""
    run = run_model(Request(MODEL, unread(ours.tokens)[1]), loaded)
    labels, layers = list(run.source.labels), [layer.weights() for layer in run.stacks[0].layers]
    few = ours.tokens <= 20
    for view, mine, shown in (
        ("model_view", ours.overview_bytes, layers),
        ("head_view", ours.pick_bytes, layers if few else [layers[LAYER]]),
    ):
        page = getattr(bertviz, view)(shown, labels, html_action="return").data
        name = view if shown is layers else f"{view}, one layer"
        nbytes = len(page.encode())
        yield {"tokens": str(ours.tokens), "bertviz": name, "its bytes": size(nbytes), "x ours": times(mine, nbytes)}


def met(mine: dict[int, Ours], empty: float) -> Iterator[Row]:
    """What was to be reached, and what was, beside what an empty page reads on the same clock in the same run."""
    for tokens, cold in ((20, 8), (200, 55)):
        if tokens in mine:
            yield above(f"choose a head, {tokens} tokens, once pointed at", mine[tokens].pointed, empty, min(cold, 20))
            yield above(f"choose a head, {tokens} tokens, the pointer just landed", mine[tokens].cold, empty, cold)
    if 200 in mine:
        ours = mine[200]
        yield spread("drag the scale, 200 tokens, main thread's work a frame", ours.dragged, 8, 16)
        yield at_most("overview of a sentence read before, 200 tokens", ours.known, 90, ms)
        new = f"new sentence, 200 tokens, until the overview: the pass ({ms(ours.passed)}) + 250 ms"
        yield at_most(new, ours.new, ours.passed + 250, ms)
        yield at_most("bytes of the overview, 200 tokens", ours.overview_bytes, 300_000, size)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--picks", type=int, default=11, help="how many heads to click, five times that at 20 tokens")
    parser.add_argument("--lengths", type=int, nargs="+", default=LENGTHS, help="lengths of the sentences in tokens")
    asked = parser.parse_args()
    torch.set_num_threads(1)
    loaded = load(MODEL)
    print(machine(), flush=True)
    with served() as server, chromium() as browser:
        empty = median(floor(browser, 5 * asked.picks))
        print(f"floor: two animation frames after a click on an empty page, {empty:.1f} ms", flush=True)
        tab = Tab(browser)
        tab.open(f"{server.url}/explore")
        tab.read(sentence(20, 2))  # run one pass, so that the whole model is in memory
        # at few tokens most of the time is where in a frame a click falls
        mine = {n: ours(tab, loaded, n, asked.picks * (5 if n <= 20 else 1)) for n in asked.lengths}
    print(table([each.row() for each in mine.values()]), flush=True)
    print(table([row for each in mine.values() for row in beside(each, loaded)]))
    print(table([*met(mine, empty)]), f"at the end: {machine()}", sep="\n")


if __name__ == "__main__":
    main()
