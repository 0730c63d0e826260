"""What a moving hand costs on the pages Fast attention and How a head is born: python -m benchmarks.films

Each film is dragged to and fro and then played, in a real browser; a frame counts with all that the page's main thread
does for it, in processor time. Bytes are those of an answer to a choice that changes nothing in the film.
"""

from collections.abc import Iterator

from benchmarks import budgets
from benchmarks.driving import Tab
from benchmarks.measuring import machine
from benchmarks.serving import chromium, served
from benchmarks.tables import size, table

#: what is filmed, its link, its canvas, what the page calls a frame's work, and the component
FILMS = [
    (f"{n:,} tokens in tiles, {way}", f"fast?fast_n={n}&fast_pass={way}", ".tf-matrix", "tile-film", "tile_film")
    for n in (64, 1024)
    for way in ("forward", "backward")
] + [("a training run, six heads", "born?born_guess=300", ".bi-curves", "attnviz-birth", "birth")]
MOST = 100_000  #: bytes of an answer


def rows(url: str) -> Iterator[budgets.Row]:
    """What each film costs, each in a browser of its own."""
    for what, link, canvas, name, component in FILMS:
        with chromium() as browser:
            tab = Tab(browser)
            tab.page.goto(f"{url}/{link}")
            tab.page.locator(".av-root[data-step]").wait_for()
            tab.settle()
            dragged, played = tab.film(canvas, name)
            yield budgets.spread(f"{what}: dragged, main thread's work a frame", dragged.work, 8, 16)
            yield budgets.spread(f"{what}: played, main thread's work a frame", played.work, 8, 16)
            tab.page.locator(".av-slider-range").first.press("Home")
            tab.settle()
            tab.clear()
            tab.page.locator(".av-slider-range").first.press("End")
            while not tab.bytes_of(f"attnviz.{component}"):
                tab.settle()
            yield budgets.at_most(f"{what}: bytes of an answer", tab.bytes_of(f"attnviz.{component}"), MOST, size)


def main() -> None:
    print(machine(), flush=True)
    with served() as server:
        print(table([*rows(server.url)]))
    print(f"at the end: {machine()}")


if __name__ == "__main__":
    main()
