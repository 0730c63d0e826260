import csv
import io
import os
import re
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote
from xml.etree import ElementTree

import numpy as np
import pytest
import torch
from PIL import Image
from playwright.sync_api import expect
from torch import Tensor, nn

from attnviz.analysis.word_vectors import sentence
from attnviz.base.word_boundaries import split
from attnviz.core.attention import Scale, attend
from attnviz.figures.theme import WEIGHTS
from attnviz.models.architecture import Architecture
from attnviz.models.capture import capture
from attnviz.pages.born.maths import life
from tests.browser import saving
from tests.browser.canvas_places import cell_on, mask_door, pinned, tile, tokens
from tests.browser.conftest import ROOT, Server, answered, still, until, widest
from tests.browser.test_choosing import PLACE
from tests.browser.test_figure_files import steady
from tests.models.tiny import eager
from tests.pages.born.test_training import by_hand
from tests.pages.why.test_parts import heads_output, lead

LAYERS, HEADS = 30, 9
SENTENCE = "Anna gave Peter the red book because he loved old stories."
OWN, HOSTED = "a machine of one's own", "a hosted demo"  # hosted, the same again: slow, for `make check-all`
#: on one test process, which starts each server once and converts the model once
WHERE = (
    pytest.param(OWN, marks=pytest.mark.xdist_group("mission")),
    pytest.param(HOSTED, marks=(pytest.mark.slow, pytest.mark.xdist_group("mission"))),
)
#: for what is the same whoever serves it: a hosted server reads fewer words and logs otherwise, and computes the same
NOT_HOSTED = pytest.mark.parametrize("site", WHERE[:1], indirect=True)
MODES = {OWN: {}, HOSTED: {"ATTNVIZ_HOSTED": "1"}}
FIRST_OPEN = 180_000  # ms; the first visitor ever waits for the model to be converted


# A server started as a visitor would, and a trap for whatever wants to leave the machine


class Trap:
    """A proxy that refuses every request and records it."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.address = f"http://127.0.0.1:{self.listener.getsockname()[1]}"
        threading.Thread(target=self._listen, daemon=True).start()

    def _listen(self) -> None:
        while True:
            try:
                caller, _ = self.listener.accept()
            except OSError:
                return
            with caller:
                self.asked.append(caller.recv(200).decode(errors="replace").partition("\r\n")[0])


@pytest.fixture(scope="module")
def cold_cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An empty cache folder, so that the first test starts without any converted model."""
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(scope="module", params=WHERE)
def site(request: pytest.FixtureRequest, cold_cache: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of an app in a process of its own; its log and its requests are checked when it ends.

    It has no offline switches, and all its requests are sent to the refusing proxy.
    """
    trap = Trap()
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("ATTNVIZ_", "HF_", "STREAMLIT_"))}
    env = kept | dict.fromkeys(("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"), trap.address)
    env |= dict.fromkeys(("no_proxy", "NO_PROXY"), "127.0.0.1,localhost")
    env |= {"OMP_NUM_THREADS": "1", "ATTNVIZ_CACHE": str(cold_cache)} | MODES[request.param]
    server = Server(ROOT / "app.py", tmp_path_factory.mktemp("server") / "log.txt", env=env)
    yield server.url
    server.stop()
    trap.listener.close()
    assert "Traceback" not in server.log.read_text(), server.log.read_text()
    assert not trap.asked, f"the server asked for something outside: {trap.asked}"


@pytest.fixture
def visit(new_page: Callable[..., Any], site: str) -> Callable[..., Any]:
    """`visit("/explore", width=390)`: a visitor of the app, in whose browser nothing may go wrong."""

    def opened(where: str, **window: Any) -> Any:
        page = new_page(**window)
        page.goto(site + where)
        return page

    return opened


# What visitors do


def head_stage(page: Any, title: str = "") -> Any:
    """The picture of one head whose title begins so."""
    return page.get_by_role("application", name=re.compile(rf"^{title}.*Attention of one head")).first


def beside(stage: Any, part: str) -> str:
    """The text of another part of the canvas that `stage` belongs to: "readout" or "title"."""
    found: str = stage.evaluate(
        """(stage, part) => stage.getRootNode().querySelector(
               part === "readout" ? "[data-testid=readout]" : ".av-title").textContent""",
        part,
    )
    return found


def type_sentence(page: Any, label: str, text: str) -> None:
    area = page.get_by_label(label, exact=True)
    area.fill(text)
    area.press("Control+Enter")


def in_link(page: Any, part: str) -> None:
    """Wait until the address holds this text and the run that it started has finished."""
    page.wait_for_url(lambda url: f"&{part}" in url.replace("?", "&"))
    answered(page)


def tokens_shown(page: Any) -> list[str]:
    chips = page.get_by_role("listbox").first.get_by_role("option")  # where the sentence stands above its picture
    return [text.strip() for text in chips.all_inner_texts()] if chips.count() else tokens(page)


def wait_for_tokens(page: Any, tokens: list[str]) -> None:
    until(lambda: tokens_shown(page) == tokens)
    answered(page)


def point_at(page: Any, stage: Any, query: int, key: int, n: int) -> str:
    """Move the mouse to a cell, and read what the canvas says of it. A picture that moves is followed."""
    cell = re.compile(rf"\({query}\) (→|may not look at) .* \({key}\)", re.DOTALL)

    def pointed() -> bool:
        page.mouse.move(*cell_on(stage, query, key, n))
        return cell.search(beside(stage, "readout")) is not None

    until(pointed)
    return beside(stage, "readout")


def switch_to(page: Any, name: str) -> None:
    """Press a button of a segmented control."""
    page.get_by_role("radio", name=name, exact=True).or_(page.get_by_role("button", name=name, exact=True)).click()


def open_export(page: Any, sentence: Any, label: str = "Save") -> None:
    """Open the export menu that comes next after a sentence on the page, scrolled to where there is room below it."""
    sentence.wait_for()
    answered(page)  # its own menu comes after it, and after another's where the page still grows
    button = sentence.locator(f"xpath=following::button[contains(., '{label}')][1]")
    button.evaluate("""(button) => {
        button.scrollIntoView({ block: "start", behavior: "instant" });
        document.querySelector("[data-testid=stMain]").scrollBy({ top: -120, behavior: "instant" });
    }""")
    saving.open_menu(button)
    page.get_by_role("button", name="SVG", exact=True).wait_for()


def close_export(page: Any) -> None:
    page.keyboard.press("Escape")
    page.get_by_role("button", name="SVG", exact=True).wait_for(state="detached")


def saved(page: Any, button: str) -> Path:
    """Press a button of the open export menu, and wait for the file to arrive; the browser's name for it stays."""
    download = saving.saved(page, page.get_by_role("button", name=button, exact=True))
    arrived = Path(download.path())
    return arrived.rename(arrived.with_name(download.suggested_filename))


def read_csv(file: Path) -> list[dict[str, str]]:
    assert file.suffix == ".csv"
    return list(csv.DictReader(io.StringIO(file.read_text("utf-8"))))


def csv_of(page: Any, sentence: Any, label: str = "Save") -> list[dict[str, str]]:
    """The numbers behind the picture that a sentence is about, as the visitor gets them."""
    open_export(page, sentence, label)
    rows = read_csv(saved(page, "CSV, the numbers"))
    close_export(page)
    return rows


def matrix_of(rows: list[dict[str, str]], n: int) -> np.ndarray:
    """The table of cells as a matrix; NaN where a cell is hidden."""
    found = np.full((n, n), np.nan)
    for row in rows:
        if row["value"]:
            found[int(row["query_position"]), int(row["key_position"])] = float(row["value"])
    return found


def before_menu(page: Any) -> Any:
    """What stands just before the export menu of the large head, whose sentence the canvas draws."""
    menu = page.locator(".st-key-home-out-under, .st-key-head-out-under").first
    menu.wait_for()
    return menu.locator("xpath=preceding::*[1]")


def gives(page: Any) -> Any:
    """The sentence under a picture that says who gives most to whom."""
    return page.get_by_text(re.compile(r"^“.+” gives \d+% to “"))


def wait_for_value(page: Any, stage: Any, query: int, key: int, expected: np.ndarray) -> None:
    """Point at a cell until it says its weight to four digits, on Start in whole percent."""
    wanted = expected[query, key]

    def says() -> bool:
        read = point_at(page, stage, query, key, len(expected))
        if share := re.fullmatch(rf".* \({query}\) → .* \({key}\): (\d+|<1|>99)%", read):
            said = {"<1": "0", ">99": "100"}.get(share[1], share[1])  # 0% and 100% are said only of 0 and 1
            return abs(int(said) / 100 - wanted) < 0.0051
        found = re.fullmatch(rf".* \({query}\) → .* \({key}\): (< )?(\d\.\d{{4}})", read)
        return found is not None and abs(float(found[2]) - wanted) < (1.01e-4 if found[1] else 0.7e-4)

    until(says)


def assert_said(sentence: str, tokens: list[str], expected: np.ndarray) -> None:
    """Every “token” N% of the sentence is the weight of that cell, in whole percent."""
    who = position_of(re.findall(r"“(.+?)” gives", sentence)[0], tokens)
    said = re.findall(r"(\d+)% to “(.+?)”", sentence)
    assert said, sentence
    for share, token in said:
        assert int(share) == pytest.approx(100 * expected[who, position_of(token, tokens)], abs=0.51), sentence


def position_of(token: str, tokens: list[str]) -> int:
    """A token's place; one that stands there twice is told with it: “the (5)”."""
    told = re.fullmatch(r"(.*) \((\d+)\)", token)
    if told and tokens[int(told[2])] == told[1]:
        return int(told[2])
    return tokens.index(token)


def assert_same(shown: np.ndarray, expected: np.ndarray) -> None:
    """Numbers of a CSV, six digits each, NaN where masked."""
    assert np.nan_to_num(shown) == pytest.approx(expected, abs=2e-5)
    assert (expected[np.isnan(shown)] == 0).all()


def overview_pixels(page: Any) -> np.ndarray:
    """(heads, rows, columns): how bright each pixel of each small picture is painted, 0 to 255."""
    return np.array(
        page.get_by_test_id("overview").evaluate(
            """(stage) => {
                const canvas = stage.querySelector("canvas"), ink = canvas.getContext("2d");
                const ratio = canvas.width / parseFloat(canvas.style.width);
                const [tiles, place] = [JSON.parse(stage.dataset.tiles), (size) => Math.round(size * ratio)];
                const [wide, high, places] = [place(tiles[0]), place(tiles[1]), tiles[2]];
                return places.map(([x, y]) => {
                    const { data } = ink.getImageData(place(x), place(y), wide, high);
                    const bright = (at) => 0.299 * data[at] + 0.587 * data[at + 1] + 0.114 * data[at + 2];
                    return [...Array(high).keys()].map((row) =>
                        [...Array(wide).keys()].map((column) => bright(4 * (row * wide + column))));
                });
            }"""
        )
    )


def brightness(weights: np.ndarray) -> np.ndarray:
    """How bright the app's colours of these weights are, 0 to 255."""
    stops, colours = zip(*WEIGHTS, strict=True)
    return np.interp(weights, stops, [np.dot((0.299, 0.587, 0.114), list(bytes.fromhex(c[1:]))) for c in colours])


def shares_of_cells(pixels: int, cells: int) -> np.ndarray:
    """(pixels, cells): how much of each pixel of a line lies on each cell of it."""
    edges, cell = np.linspace(0, cells, pixels + 1), np.arange(cells)
    common = np.minimum(edges[1:, None], cell + 1) - np.maximum(edges[:-1, None], cell)
    return np.where(common > 1e-9, common, 0) * pixels / cells


# The same numbers by another way: the model as it was converted, its recorded Q and K, and attend


class Trained:
    """The model that the server converted, read by transformers alone."""

    def __init__(self, folder: Path) -> None:
        from transformers import AutoModelForCausalLM, AutoTokenizer

        self.tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True)
        self.model = AutoModelForCausalLM.from_pretrained(folder, local_files_only=True, dtype=torch.float32).eval()
        self.layers: dict[str, Any] = {}

    def tokens(self, text: str) -> list[str]:
        return [self.tokenizer.decode([i]).strip() for i in self.tokenizer(text).input_ids]

    def weights(self, text: str, layer: int, head: int, mask: Tensor | None, scale: Scale) -> np.ndarray:
        """(Q, K) of one head: recorded q and k through `attend`."""
        if text not in self.layers:
            ids = torch.tensor([self.tokenizer(text).input_ids])
            self.layers[text] = capture(self.model, input_ids=ids, logits=None).layers
        recorded = self.layers[text][layer]
        kv = head // (recorded.q.shape[1] // recorded.k.shape[1])
        q, k, v = recorded.q[:, [head]], recorded.k[:, [kv]], recorded.v[:, [kv]]
        return attend(q, k, v, mask, scale).weights[0, 0].numpy()


@pytest.fixture(scope="module")
def trained(cold_cache: Path) -> Callable[[], Trained]:
    """The converted model, as soon as it is there: Start shows a picture that was kept before."""
    kept: list[Trained] = []

    def converted() -> list[Path]:
        return [path.parent for path in cold_cache.rglob("config.json") if ".partial" not in str(path)]

    def load() -> Trained:
        if not kept:
            until(converted, FIRST_OPEN / 1000)
            kept.append(Trained(converted()[0]))
        return kept[0]

    return load


Load = Callable[[], Trained]


def causal(n: int, window: int | None = None) -> Tensor:
    """True where a query may look: at itself and what came before, at most `window` tokens in all."""
    back = torch.arange(n)[:, None] - torch.arange(n)
    return (back >= 0) & (back < (window or n))


def median_entropies(
    d_k: int, sets: int = 16, rows: int = 16, keys: int = 16, widest: int = 4096
) -> tuple[float, float]:
    """Nats, unscaled and scaled by 1/sqrt(d_k), of the vectors of seed 0 cut off at d_k."""
    source = torch.Generator().manual_seed(0)
    found: tuple[list[Tensor], list[Tensor]] = ([], [])
    for _ in range(sets):
        q, k = torch.randn(rows, widest, generator=source), torch.randn(keys, widest, generator=source)
        torch.randn(rows, keys, generator=source)  # drawn between two sets, for the gradients
        scores = (q[:, :d_k] @ k[:, :d_k].T).double()
        for entropies, logits in zip(found, (scores, scores / d_k**0.5), strict=True):
            entropies.append(torch.distributions.Categorical(logits=logits).entropy())
    raw, scaled = (float(torch.cat(entropies).quantile(0.5)) for entropies in found)
    return raw, scaled


def type_it(page: Any, trained: Load, label: str = "Sentence") -> tuple[Any, Trained, list[str]]:
    """Type SENTENCE once the first head is there; the page, the model that reads it, and its tokens."""
    head_stage(page).wait_for(timeout=FIRST_OPEN)
    model = trained()
    tokens = model.tokens(SENTENCE)
    type_sentence(page, label, SENTENCE)
    wait_for_tokens(page, tokens)
    return page, model, tokens


# The promise


def ribbons_stage(page: Any) -> Any:
    return page.get_by_test_id("ribbons")


def type_on_start(page: Any, trained: Load) -> tuple[Any, Trained, list[str]]:
    """Type SENTENCE on Start; the page, the model that reads it, and its tokens."""
    ribbons_stage(page).wait_for(timeout=FIRST_OPEN)
    model = trained()
    tokens = model.tokens(SENTENCE)
    type_sentence(page, "Type a sentence", SENTENCE)
    wait_for_tokens(page, tokens)
    return page, model, tokens


def head_of_strip(page: Any) -> tuple[int, int]:
    found = re.fullmatch(r"layer (\d+), head (\d+)", strip(page).get_attribute("aria-valuetext"))
    assert found
    return int(found[1]), int(found[2])


def strip(page: Any) -> Any:
    return page.get_by_role("slider", name="All heads")


def wait_for_ribbons(page: Any, expected: np.ndarray) -> None:
    """Wait until the ribbons are of these weights."""

    def drawn() -> Any:
        return np.reshape(ribbons_stage(page).evaluate("(stage) => [...stage.matrix()]"), expected.shape)

    until(lambda: np.abs(drawn() - expected).max() < 2e-4)


def touch(page: Any, word: int) -> str:
    """Touch a word; the sentence about it."""
    page.get_by_role("listbox").first.get_by_role("option").nth(word).click()
    page.get_by_role("option", selected=True).nth(0).wait_for()
    said: str = page.get_by_test_id("said").inner_text()
    return said


def assert_told(said: str, word: int, tokens: list[str], expected: np.ndarray) -> None:
    """What the sentence under the ribbons says a word becomes is its row of weights, in whole percent."""
    row = expected[word]
    assert position_of(re.findall(r"“(.+?)”", said)[0], tokens) == word, said
    if "mostly" in said:
        key, share = re.findall(r"mostly “(.+?)”: (>?\d+)% of its new vector", said)[0]
        shares = [(key, share)]
    else:
        shares = [(key, share) for share, key in re.findall(r"(\d+)% of “(.+?)”", said)]
    assert shares, said
    for key, share in shares:
        assert int(share.strip(">")) == pytest.approx(100 * row[position_of(key, tokens)], abs=0.51 + (">" in share)), (
            said
        )
    assert row[position_of(shares[0][0], tokens)] == row.max(), said


@pytest.mark.every_commit
def test_a_stranger_types_a_sentence_and_reads_true_numbers(visit, trained):
    page, model, tokens = type_on_start(visit("/"), trained)
    n = len(tokens)
    layer, head = head_of_strip(page)
    changes: list[tuple[str | None, Tensor | None, Scale]] = [
        (None, causal(n), "sqrt"),
        ("mask", None, "sqrt"),
        ("scale", None, None),
    ]
    for switch, mask, scale in changes:
        if switch == "mask":
            page.get_by_role("switch").click()
            in_link(page, "causal=false")  # the browser draws it at once; the file comes from the server
        elif switch == "scale":
            page.get_by_role("button", name="no scaling").click()
            in_link(page, "scaled=false")
        expected = model.weights(SENTENCE, layer, head, mask, scale)
        wait_for_ribbons(page, expected)
        for word in (2, 7, n - 1):
            assert_told(touch(page, word), word, tokens, expected)
        answered(page)
        row = csv_of(page, page.get_by_label("Type a sentence", exact=True))
        assert [float(cell["value"] or "nan") for cell in row] == pytest.approx(
            np.where((expected[n - 1] > 0), expected[n - 1], np.nan if mask is not None else 0), abs=2e-5, nan_ok=True
        )
    page.get_by_role("button", name="Unfold the matrix").click()
    in_link(page, "start_matrix=true")
    assert_same(matrix_of(csv_of(page, page.get_by_label("Type a sentence", exact=True)), n), expected)
    shows_as_typed(page, "Type a sentence")


@pytest.mark.every_commit
def test_sliding_through_the_heads_shows_each_and_its_link_opens_it(visit, trained):
    page, model, tokens = type_on_start(visit("/"), trained)
    n = len(tokens)
    layer, head = head_of_strip(page)
    touch(page, 9)
    strip(page).focus()
    page.keyboard.press("ArrowUp")
    page.keyboard.press("ArrowLeft")
    assert head_of_strip(page) == (layer + 1, head - 1)
    expected = model.weights(SENTENCE, layer + 1, head - 1, causal(n), "sqrt")
    wait_for_ribbons(page, expected)
    page.get_by_role("button", name="Who looks at").click()
    page.get_by_role("button", name="Unfold the matrix").click()
    in_link(page, "start_matrix=true")
    said = page.get_by_test_id("said").inner_text()
    again = visit(page.url.partition(page.url.split("/")[2])[2])
    ribbons_stage(again).wait_for(timeout=FIRST_OPEN)
    wait_for_ribbons(again, expected)
    assert head_of_strip(again) == (layer + 1, head - 1)
    expect(again.get_by_test_id("said")).to_have_text(said, use_inner_text=True)
    again.get_by_role("button", name="Fold the matrix").wait_for()
    again.get_by_role("button", name="look at?").wait_for()
    touch(again, 9)  # the word on show stays
    assert again.get_by_test_id("said").inner_text() == said


def the_heads_are_the_models(page: Any, model: Trained, n: int) -> None:
    """Every head of the model has its picture: each pixel is as bright as the weights that it lies on ask."""
    painted = overview_pixels(page)
    assert len(painted) == LAYERS * HEADS == 270
    weights = np.stack(
        [model.weights(SENTENCE, la, he, causal(n), "sqrt") for la in range(LAYERS) for he in range(HEADS)]
    )
    down, across = (shares_of_cells(pixels, n) for pixels in painted.shape[1:])
    seen = down @ np.triu(np.ones((n, n)), 1) @ across.T == 0  # no part of a hidden cell
    painted, asked = painted[:, seen], (down @ brightness(weights) @ across.T)[:, seen]
    assert (painted.max(1) - painted.min(1)).min() > 50, "a tile is blank"
    assert np.abs(painted - asked).max() < 4, "a tile shows another head"


def the_head_is_saved(page: Any, tokens: list[str]) -> None:
    """As SVG and PNG, with its tokens, its cells and its name."""
    open_export(page, before_menu(page))
    drawing = saved(page, "SVG").read_bytes()
    assert len(drawing) <= 200_000
    svg = ElementTree.fromstring(drawing)
    assert svg.tag == "{http://www.w3.org/2000/svg}svg"
    size = [float(svg.attrib[side]) for side in ("width", "height")]
    assert min(size) > 300
    written = " ".join("".join(text.itertext()) for text in svg.iter("{http://www.w3.org/2000/svg}text"))
    for word in [*tokens, "layer 13, head 8"]:
        assert word in written
    page.get_by_text("is in your downloads.").wait_for()
    for times in (2, 4):
        if times == 4:
            page.get_by_text("Title, caption, background").click()
            saving.press_in_menu(page.get_by_label("PNG twice as fine"))
            expect(page.get_by_label("PNG twice as fine")).to_be_checked()
        picture = Image.open(saved(page, "PNG"))
        assert picture.format == "PNG"
        assert list(picture.size) == [times * side for side in size]
        pixels = np.asarray(picture.convert("RGB")).reshape(-1, 3).astype(int)
        coloured = pixels[np.ptp(pixels, axis=1) > 40]  # axes, words and what is masked are grey
        assert len(coloured) > 0.05 * len(pixels), "the picture has no cells"
        assert len(np.unique(coloured, axis=0)) > 20, "its cells are all alike"
    painted = [path for path in svg.iter("{http://www.w3.org/2000/svg}path") if path.get("fill", "none") != "none"]
    assert len({path.get("fill") for path in painted}) > 10, "the drawing's cells are all alike"
    assert sum(path.get("d", "").count("M") for path in painted) >= len(tokens), "the drawing has no cells"
    close_export(page)


@dataclass(frozen=True)
class Shown:
    """What a visitor sees of a changed head: words, the reading of one cell, its pins, the numbers."""

    title: str
    words: str
    caption: str
    reading: str
    pins: str
    rows: list[dict[str, str]]


def narrow_the_window(page: Any) -> None:
    """One token less, by key, as soon as the slider is there: a key pressed on something hidden goes nowhere."""
    slider = page.get_by_test_id("window").first
    slider.wait_for()
    slider.press("ArrowLeft")


def read_changed(page: Any, query: int, key: int, n: int, in_what_if: bool) -> Shown:
    """What stands with the changed head, large or in "what if"; its menu is opened and closed again."""
    words = page.get_by_text(re.compile(r"^After: “")) if in_what_if else gives(page).first
    words.wait_for(timeout=FIRST_OPEN)
    answered(page)
    open_export(page, *([words, "After"] if in_what_if else [before_menu(page)]))
    caption = page.get_by_label("Caption (leave empty for none)").input_value()
    rows = read_csv(saved(page, "CSV, the numbers"))
    close_export(page)
    reading = point_at(page, head_stage(page, "After" if in_what_if else ""), query, key, n)
    return Shown(beside(head_stage(page), "title"), words.inner_text(), caption, reading, str(pinned(page)), rows)


@NOT_HOSTED
def test_every_head_has_its_picture_and_is_saved_and_mask_and_scale_give_one_number_everywhere_and_by_link(
    visit, trained
):
    page, model, tokens = type_it(visit("/explore"), trained)
    the_heads_are_the_models(page, model, len(tokens))
    the_head_is_saved(page, tokens)
    page.get_by_role("button", name=re.compile(r"Layer \d+ head \d+ ")).first.wait_for()  # the last thing to come
    answered(page)
    page.get_by_text("What if: another mask, another scale").click()
    page.get_by_text("what changes is shown here at once").wait_for()
    in_link(page, "open_what_if=true")
    change_and_reopen(visit, page, model, tokens, in_what_if=True)


@NOT_HOSTED
def test_mask_and_scale_beside_the_head_give_one_number_everywhere_and_a_link_gives_it_again(visit, trained):
    change_and_reopen(visit, *type_it(visit("/explore?at=1.1"), trained), in_what_if=False)


def change_and_reopen(visit: Any, page: Any, model: Trained, tokens: list[str], in_what_if: bool) -> None:
    layer, head, window, query, n = 7, 5, 3, 8, len(tokens)
    page.mouse.click(*tile(page, layer * HEADS + head))
    in_link(page, f"at={layer}.{head}")
    assert f"Layer {layer}, head {head}" in beside(head_stage(page), "title")
    page.mouse.click(*cell_on(head_stage(page), query, query - 1, n))
    in_link(page, "c=")
    mask_door(page).get_by_test_id("mask").select_option("window")
    narrow_the_window(page)
    in_link(page, f"window={window}")
    page.locator(".av-mark[data-mark=none]").first.click()
    in_link(page, "scale=none")
    expected = model.weights(SENTENCE, layer, head, causal(n, window), None)
    key = int(expected[query].argmax())
    wait_for_value(page, head_stage(page, "After" if in_what_if else ""), query, key, expected)
    shown = read_changed(page, query, key, n, in_what_if)
    assert_said(shown.words, tokens, expected)
    assert_same(matrix_of(shown.rows, n), expected)
    for part in (f"layer {layer}, head {head}", f"window of {window} tokens", "times 1."):
        assert part in shown.caption
    for part in ("text=", "at=", "c=", "mask=", "window=", "scale=", *(["open_what_if="] if in_what_if else [])):
        in_link(page, part)
    again = visit("/explore" + page.url.split("/explore")[1], stranger=True)
    assert read_changed(again, query, key, n, in_what_if) == shown


@NOT_HOSTED
@pytest.mark.every_commit
def test_entropy_falls_as_d_k_grows_unless_scores_are_scaled(visit):
    page = visit("/scaling")
    page.get_by_text("Eight measures of many rows").click()
    sentence = page.get_by_text(re.compile("the median entropy is .* nats raw"))
    rows = csv_of(page, sentence)
    d_k = [int(row["d_k"]) for row in rows]
    raw, scaled = ([float(row[f"{name}_middle"]) for row in rows] for name in ("raw", "sqrt"))
    assert d_k[0] == 1
    assert d_k[-1] == 4096
    mine = [median_entropies(d) for d in d_k]
    assert raw == pytest.approx([a for a, _ in mine], abs=2e-4)
    assert scaled == pytest.approx([b for _, b in mine], abs=2e-4)
    assert (np.diff(raw) < 0).all()
    assert raw[-1] < 0.05 * raw[0]
    assert max(scaled) - min(scaled) < 0.1 * scaled[0]
    here = re.search(
        r"At d_k = (\d+) the median entropy is ([\d.]+) nats raw and ([\d.]+) scaled", sentence.inner_text()
    )
    assert here
    at = d_k.index(int(here[1]))
    assert [float(here[2]), float(here[3])] == pytest.approx([raw[at], scaled[at]], abs=0.0051)


@NOT_HOSTED
def test_parameters_and_cache_of_mha_gqa_and_mqa_are_counted_right(visit):
    page = visit("/sharing")
    switch_to(page, "Count it")
    answered(page)  # else the next menu on the page may be that of another picture
    parameters = csv_of(page, page.get_by_text(re.compile("in attention, of these")))
    held = csv_of(page, page.get_by_text(re.compile("^Ideal, at 16 bits")))
    columns = {kind: next(name for name in held[0] if kind in name) for kind in KINDS}
    for kind, n_kv_heads in KINDS.items():
        row = next(row for row in parameters if kind in row["sharing"])
        counted = sum(int(cell) for name, cell in row.items() if name != "sharing")
        arch = Architecture.from_config(llama(n_kv_heads))
        assert counted == arch.attention_parameters() == attention_built(n_kv_heads)
        for line in held:
            tokens = int(line["tokens of context"])
            cached = int(line[columns[kind]])
            assert cached == arch.kv_cache_bytes(tokens) == cache_built(n_kv_heads, tokens)
    said = page.get_by_text(f"{cache_built(8, 8192):,} B").first  # 8,192 tokens, as the page starts
    expect(said).to_be_visible()


KINDS = {"MHA-32": 32, "GQA-8": 8, "MQA": 1}
LLAMA_8B = {"num_hidden_layers": 32, "hidden_size": 4096, "num_attention_heads": 32}


def llama(n_kv_heads: int) -> Any:
    """Llama 3.1 8B's shape with another number of key/value heads."""
    from transformers import LlamaConfig

    return LlamaConfig(**LLAMA_8B, num_key_value_heads=n_kv_heads, head_dim=128)


def attention_built(n_kv_heads: int) -> int:
    """Parameters of the four projections of its 32 layers, as modules of torch."""
    with torch.device("meta"):
        shapes = ((4096, 32 * 128), (4096, n_kv_heads * 128), (4096, n_kv_heads * 128), (32 * 128, 4096))
        layer = nn.ModuleList(nn.Linear(*shape, bias=False) for shape in shapes)
    return 32 * sum(parameter.numel() for parameter in layer.parameters())


def cache_built(n_kv_heads: int, tokens: int) -> int:
    """Bytes of the keys and values of one sequence, as tensors of torch."""
    return torch.empty(32, 2, n_kv_heads, tokens, 128, dtype=torch.bfloat16, device="meta").nbytes


TWO_LINES = "The cat saw the dog and the cat ran.\nAnna gave Peter the red book because he loved old stories."


# not at every commit: the command runs the page a second time, in a process of its own
@NOT_HOSTED
def test_the_map_of_heads_holds_a_true_number_leads_to_its_head_and_is_made_again_from_its_link(
    visit, trained, cold_cache, tmp_path
):
    layer, head = 16, 3  # not the one that is shown first
    page = visit(f"/heads?hd_text=own&hd_own={quote(TWO_LINES)}&hd_by=previous_token")
    plot = page.locator(".st-key-hd_map_canvas .hm-stage[data-tiles]")
    plot.wait_for(timeout=FIRST_OPEN)
    page.locator(".st-key-hd_explore button").wait_for(timeout=FIRST_OPEN)
    answered(page)
    plot.hover()  # in sight
    still(page)  # and as wide as its place
    page.mouse.click(*plot.evaluate(PLACE, 9 * layer + head))
    page.wait_for_url(re.compile(rf"hd_at={layer}\.{head}"), timeout=FIRST_OPEN)
    explore = page.get_by_role("button", name=f"Open layer {layer}, head {head}")
    explore.wait_for(timeout=FIRST_OPEN)
    answered(page)
    link = page.url

    page.locator(".st-key-hd_map-save-menu button").first.click()
    row = next(
        row
        for row in read_csv(saved(page, "CSV, the numbers"))
        if (row["layer"], row["head"]) == (str(layer), str(head))
    )
    each = [on_previous_token(trained(), line, layer, head) for line in TWO_LINES.splitlines()]
    assert float(row["previous_token mean"]) == pytest.approx(sum(each) / 2, abs=2e-5)
    assert float(row["previous_token stderr"]) == pytest.approx(abs(each[0] - each[1]) / 2, abs=2e-5)

    theirs = saved(page, "SVG").read_text("utf-8")
    close_export(page)
    command = [sys.executable, "-m", "attnviz", "figure", link, "--figure", "hd_map", "-o", str(tmp_path / "map.svg")]
    env = os.environ | {"ATTNVIZ_CACHE": str(cold_cache), "OMP_NUM_THREADS": "1"}
    made = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, check=False)
    assert made.returncode == 0, made.stderr
    assert steady((tmp_path / "map.svg").read_text("utf-8")) == steady(theirs)

    explore.click()
    page.wait_for_url(re.compile(rf"/explore\?.*\bat={layer}\.{head}\b"), timeout=FIRST_OPEN)
    head_stage(page, f"Layer {layer}, head {head}").wait_for(timeout=FIRST_OPEN)


def on_previous_token(model: Trained, text: str, layer: int, head: int) -> float:
    """Mean weight that positions 1, 2, … give to the one before them, on the eager path of transformers."""
    ids = torch.tensor([model.tokenizer(text).input_ids])
    weights = eager(model.model, input_ids=ids).attentions[layer][0, head]
    return float(weights.diagonal(-1).mean())


@NOT_HOSTED
def test_the_first_step_works_on_a_phone(visit, trained):
    phone = visit("/", width=390, height=844, has_touch=True, is_mobile=True)
    page, model, tokens = type_on_start(phone, trained)
    expected = model.weights(SENTENCE, 13, 8, causal(len(tokens)), "sqrt")
    word = page.get_by_role("option").nth(7)
    word.tap()
    expect(word).to_have_attribute("aria-selected", "true")
    assert_told(page.get_by_test_id("said").inner_text(), 7, tokens, expected)
    assert min(word.bounding_box().values()) >= 0
    assert word.bounding_box()["height"] >= 44
    assert widest(page) <= 390
    assert ribbons_stage(page).bounding_box()["width"] <= 390


CODE = re.compile(r"\b[B-DF-HJ-NP-TV-XZ]{5}\b")  #: of a room


@NOT_HOSTED
def test_a_class_follows_a_lesson_and_its_question_is_voted_on(visit):
    """From a cold start, as a lecturer who has never seen it: a room, a phone, a step, a vote, and what is right."""
    wall = visit("/lessons?lesson=masks&step=1", width=1280, height=720)
    wall.get_by_role("button", name="Teach").click(timeout=FIRST_OPEN)
    room = wall.get_by_role("dialog", name="The room")
    until(lambda: CODE.search(room.inner_text()))  # it comes after the room
    code = CODE.search(room.inner_text())[0]
    phone = visit("/", width=390, height=844, has_touch=True, is_mobile=True)
    phone.get_by_label("In a class? Its code:").fill(code.lower())
    phone.get_by_role("button", name="Join").tap()
    expect(room).to_contain_text("1 is here", timeout=FIRST_OPEN)
    with wall.context.expect_page() as opened:
        room.get_by_role("button", name="Presenter’s window").click()
    window = opened.value
    window.get_by_role("button", name="Next").click()
    expect(phone.locator("main")).to_contain_text("Step 2 of")
    window.get_by_text("Ask the room").click()
    window.get_by_role("button", name=re.compile("How many scores, of 36")).click()
    phone.get_by_role("button", name="21", exact=True).tap()
    phone.get_by_role("button", name="Vote").tap()
    expect(room).to_contain_text("1 of 1 have voted")
    expect(room).to_contain_text("from five votes on")
    window.get_by_role("button", name="Show the answer").click()
    for page in (phone.locator("main"), room):
        expect(page).to_contain_text(f"✓ {causal(6).sum()}")
    expect(phone.locator("main")).to_contain_text("your tap")


@NOT_HOSTED
def test_a_mistake_is_found_from_a_cold_start_and_shown_in_true_numbers(visit):
    """By the menu: a wrong guess, what both programs give, the test, the next program, and a link that opens it all."""
    page = visit("/")
    page.get_by_role("link", name="Find the mistake").click(timeout=FIRST_OPEN)
    lines = page.get_by_role("group", name="Lines of the program")
    wrong = lines.get_by_role("button", name="6 weights = weights")
    expect(wrong).to_be_visible()
    assert "may_attend" in lines.inner_text()
    assert lines.locator("[data-sign='+']").count() == 0, "the right line is not there before a guess"
    lines.get_by_role("button", name="3 scores").click()
    said = page.get_by_role("status").filter(has_text="Softmax before masking")
    expect(said).to_contain_text("Not line 3. It is line 6")
    expect(lines.locator("[data-sign='+']")).to_have_count(2)
    words = sentence(("The", "cat", "sat", "on", "the", "mat", "because", "it", "was", "tired"))
    weights, allowed = words.scores.softmax(-1), causal(10)
    expected = {
        "wrong": weights * allowed,
        "right": attend(words.q[None], words.k[None], words.v[None], allowed).weights[0],
    }
    for side, matrix in expected.items():
        expect(page.get_by_text(f"What the {side} program gives", exact=True)).to_be_visible()
        shown = csv_of(page, page.locator(f".st-key-mistake-{side}"))
        assert_same(matrix_of(shown, 10), matrix.numpy())
    cell = divmod(int((expected["wrong"] - expected["right"]).abs().argmax()), 10)
    told = page.get_by_text("Weights that are off").inner_text()
    assert f"{expected['wrong'][cell]:.1%}; right is {expected['right'][cell]:.1%}" in told
    expect(page.get_by_text("It stops the wrong program and passes the right one.")).to_be_visible()
    link = page.url
    switch_to(page, "Tiles")
    in_link(page, "topic=tiles")
    lines.get_by_role("button", name="9 weights").press("Enter")
    expect(page.get_by_role("status").filter(has_text="No maximum subtracted")).to_contain_text("Yes, line")
    page.get_by_role("button", name="Next program").click()
    in_link(page, "mistake=mask_late")
    again = visit(link.removeprefix(link.split("/mistakes")[0]))
    expect(again.get_by_role("status").filter(has_text="Softmax before masking")).to_contain_text("Not line 3")


ODD = "Say <b>x</b> **y** $z$ 中文 🙂 <img src=x onerror=window.hacked=1>"
AS_TYPED = "Say<b>x</b>**y**$z$中文🙂<img"  #: without blanks
#: besides Start, where the stranger of the promise types it last; Masks paints its words, and says how many they are
SENTENCES = {
    "/explore?open_stages=true&open_next=true": "Sentence",
    "/build": "Sentence",
    "/masks": "Your sentence",
    "/sharing": "Sentence",
    "/scaling?s_section=head": "Sentence",
}


@NOT_HOSTED
@pytest.mark.parametrize("where", SENTENCES)
def test_what_is_typed_shows_as_typed(visit, where):
    page = visit(where)
    page.get_by_label(SENTENCES[where], exact=True).wait_for(timeout=FIRST_OPEN)
    said = f"of{len(split(ODD))}words" if where == "/masks" else AS_TYPED
    shows_as_typed(page, SENTENCES[where], said, in_its_program=where == "/sharing")


def shows_as_typed(page: Any, label: str, said: str = AS_TYPED, in_its_program: bool = False) -> None:
    """Markup that is typed is text; a page may repeat the sentence in its program only."""
    type_sentence(page, label, ODD)
    if in_its_program:
        answered(page)
        page.get_by_text("The same in PyTorch").first.click()
    until(lambda: said in words_on(page))
    answered(page)
    assert page.get_by_label(label, exact=True).input_value() == ODD
    assert page.evaluate("window.hacked") is None
    assert page.locator("img[src=x]").count() == 0
    for markup, inside in (("b, strong, em", "x"), ("b, strong, em", "y"), (".katex", "z")):
        assert page.locator(markup).get_by_text(inside, exact=True).count() == 0, f"{inside} became markup"


def words_on(page: Any) -> str:
    """All text of the page but what stands in fields, without blanks: a sentence's tokens are joined again."""
    found: str = page.evaluate(
        """() => {
            const texts = [];
            const walk = (node) => {
                if (node.nodeType === Node.TEXT_NODE) texts.push(node.nodeValue);
                if (["SCRIPT", "STYLE", "TEXTAREA"].includes(node.tagName)) return;
                if (node.shadowRoot) walk(node.shadowRoot);
                node.childNodes.forEach(walk);
            };
            walk(document.body);
            return texts.join("").replace(/[\\s␣]/g, "");
        }"""
    )
    return found


@NOT_HOSTED
def test_which_head_made_it_say_so_is_answered_with_true_numbers(visit, trained):
    page = visit("/why?why_text=The+capital+of+Italy+is&why_token=Rome&why_versus=Paris")
    flows = page.locator(".lf-canvas")
    flows.wait_for(timeout=FIRST_OPEN)
    answered(page)
    layer, head = 23, 4
    added, total, silenced = of_one_head(trained(), "The capital of Italy is", ("Rome", "Paris"), layer, head)
    expect(page.get_by_text(f"leads Paris by {total:.2f} in logits")).to_be_visible()

    flows.focus()
    for _flow in range(20):
        page.keyboard.press("ArrowRight")
        if page.locator(".lf-said").text_content().startswith(f"{layer}.{head} adds {added:.3f} for “Rome”"):
            break
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile(rf"why_at={layer}\.{head}&why_silence=true"))
    expect(page.get_by_text(f"Head {layer}.{head} adds {added:+.2f}").first).to_be_visible(timeout=FIRST_OPEN)
    change = f"The lead goes from {total:.2f} to {silenced:.2f}".replace("-", "−")
    expect(page.get_by_text(change)).to_be_visible(timeout=FIRST_OPEN)
    page.get_by_role("button", name="Open this head in the explorer").click()
    page.wait_for_url(re.compile(rf"/explore\?.*\bat={layer}\.{head}\b"), timeout=FIRST_OPEN)


@NOT_HOSTED
def test_how_a_head_is_born_is_followed_with_true_numbers(visit, trained):
    page = visit("/born?born_at=356")
    film = page.locator(".av-root:has(.bi-curves)")
    film.wait_for(timeout=FIRST_OPEN)
    answered(page)
    numbers = [int(text.removeprefix("no. ")) for text in film.locator(".bi-chip span").all_inner_texts()[:6]]
    until(lambda: film.get_attribute("data-fetched"))
    shares = film.locator(".bi-chip span").all_inner_texts()[7:]
    probabilities, right = of_the_born(356, numbers)
    assert [text[0] == "✓" for text in shares] == right
    assert [float(text.strip("✓✗ %<>")) for text in shares] == pytest.approx(100 * probabilities, abs=0.1)

    page.get_by_role("button", name="never", exact=True).click()
    said = page.get_by_text(re.compile(r"Computed: between steps \d+ and \d+"))
    expect(said).to_be_visible(timeout=FIRST_OPEN)
    before, step = map(int, re.search(r"steps (\d+) and (\d+)", said.inner_text()).groups())
    assert np.mean(of_the_born(before, numbers)[1]) < 0.5 <= np.mean(of_the_born(step, numbers)[1])
    page.get_by_text("A trained model", exact=True).click()
    title = page.get_by_text(re.compile(r"head \d+\.\d+: 0\.\d\d on what came next last time")).first
    title.wait_for(timeout=FIRST_OPEN)
    layer, head, score = re.search(r"head (\d+)\.(\d+): (0\.\d\d)", title.inner_text()).groups()
    text = " ".join(["the cat saw a red bird"] * 2)
    ids = trained().tokenizer(text).input_ids
    weights = trained().weights(text, int(layer), int(head), torch.ones(len(ids), len(ids)).tril().bool(), "sqrt")
    known = {t: [k + 1 for k in range(t) if ids[k] == ids[t]] for t in range(len(ids))}
    rows = [float(weights[t, keys].sum()) for t, keys in known.items() if keys]
    assert np.mean(rows) == pytest.approx(float(score), abs=0.0051)


def of_the_born(step: int, words: list[int]) -> tuple[np.ndarray, list[bool]]:
    """How likely the small model finds the second copy's words but the first at a step, and whether likeliest."""
    run, ids = life.read(life.LIFE), torch.tensor(words * 2)
    logits = by_hand(run.numbers[run.steps.tolist().index(step)], ids.numpy(), run.config, set())
    asked, known = torch.from_numpy(logits)[len(words) : -1], ids[len(words) + 1 :]
    return asked.softmax(-1).gather(1, known[:, None])[:, 0].numpy(), (asked.argmax(-1) == known).tolist()


@NOT_HOSTED
def test_why_flash_attention_is_fast_is_answered_with_numbers_of_a_run_of_ones_own(visit):
    """From a cold start: the film's tile against softmax over the same scores, another block, and bytes both ways."""
    page = visit("/fast")
    page.locator(".tf-matrix").wait_for(timeout=FIRST_OPEN)
    generator = torch.Generator().manual_seed(0)
    q, k = (torch.randn(96, 64, generator=generator).double() for _ in range(2))
    said = page.locator(".tf-readout").inner_text()
    query = int(re.match(r"Query (\d+):", said)[1])
    row = (q @ k.T / 8)[query - 1, :32]  # the second tile of its row is at work
    for number in (row[:16].max(), row.max(), (row - row.max()).exp().sum()):
        assert f"{number:.2f}".replace("-", "−") in said
    one = page.locator(".st-key-fast_block_k")
    one.get_by_role("radio", name="32").or_(one.get_by_role("button", name="32")).click()
    expect(page.locator(".tf-said")).to_contain_text("of 12", timeout=FIRST_OPEN)
    moved = re.search(r"a result (\S+) away", page.get_by_text(re.compile("Tiles of .* away")).inner_text())
    assert 0 < float(moved[1]) < 1e-6
    switch_to(page, "What it costs")
    words = page.locator(".st-key-fast-moved-under")
    n, heads, kv, d = 8192, 32, 8, 128
    whole = 2 * (2 * heads * n * d + 2 * kv * n * d + 4 * heads * n * n)
    expect(words).to_contain_text(f"moves {whole / 2**30:.4g} GiB", timeout=FIRST_OPEN)


def of_one_head(model: Trained, text: str, words: tuple[str, str], layer: int, head: int) -> tuple[float, float, float]:
    """What a head adds to the lead of one word over another, the lead, and the lead once the head hands on zeros."""
    ids, llama = torch.tensor([model.tokenizer(text).input_ids]), model.model
    asked = [model.tokenizer(f" {word}").input_ids[0] for word in words]
    project, norm, seen = llama.model.layers[layer].self_attn.o_proj, llama.model.norm, list[Tensor]()
    with (
        heads_output(llama, layer, head, lambda handed: seen.append(handed[0, -1]) or handed),
        norm.register_forward_pre_hook(lambda _module, given: seen.append(given[0][0, -1])),
    ):
        total = lead(llama, ids, asked)
    with heads_output(llama, layer, head, torch.zeros_like):
        silenced = lead(llama, ids, asked)
    handed, stream = seen
    with torch.no_grad():
        scale = (stream.pow(2).mean() + norm.variance_epsilon).rsqrt()
        row = (llama.lm_head.weight[asked[0]] - llama.lm_head.weight[asked[1]]) * norm.weight * scale
        width = len(handed)
        added = float(row @ (project.weight[:, head * width : (head + 1) * width] @ handed))
    return added, total, silenced
