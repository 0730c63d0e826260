"""Times and bytes of the explorer in a real browser.

python -m benchmarks.explorer                            all of it, in about three minutes
python -m benchmarks.explorer --picks 5 --lengths 200    quicker and rougher, and one length

Bytes are what reaches the browser once the page is warm: messages on the web socket and fetches.
Times are the browser's: from the key or the click to the second animation frame after the drawing.
Needs Chromium.
"""

import argparse
import random
import timeit
from collections.abc import Iterator
from dataclasses import dataclass
from statistics import median

import torch

from attnviz.analysis.model_run import Request, run_model
from attnviz.models.catalogue import LoadedModel
from attnviz.models.loading import load
from benchmarks.driving import OVERVIEW, Tab, floor
from benchmarks.harness import Row, above, at_most, chromium, machine, ms, served, size, spread, table

MODEL = "smollm2-135m"
LENGTHS = (20, 200)
HEADS = 270
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
    sent = tab.nbytes
    known = median(tab.read((first, second)[n % 2])[OVERVIEW] for n in range(AGAIN))
    chosen = random.Random(tokens).sample(range(HEADS), 2 * picks)
    cold = median([tab.pick(tile) for tile in chosen[::2]])
    carried = tab.nbytes
    pointed = median(tab.pick(tile, pointed=True) for tile in chosen[1::2])
    request = Request(MODEL, second)
    passed = 1e3 * median(timeit.repeat(lambda: run_model(request, loaded), number=1, repeat=3))
    return Ours(tokens, sent, new, known, passed, carried, cold, pointed, tab.drag())


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
    print(table([*met(mine, empty)]), f"at the end: {machine()}", sep="\n")


if __name__ == "__main__":
    main()
