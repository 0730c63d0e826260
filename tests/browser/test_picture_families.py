"""Models of other families in a folder, on the page about pictures: opened, pointed at, and beside the eager path."""

import json
import re
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import numpy as np
import pytest
import torch
from playwright.sync_api import expect

from attnviz.models.catalogue import LoadedModel
from attnviz.models.pictures import sample
from attnviz.pages.pictures.maths.picture_record import PictureRun
from attnviz.pages.pictures.maths.picture_run import run_picture
from tests.browser.conftest import another_view, answered, until, windows
from tests.browser.test_pictures import centre_of, read
from tests.models.pictures import test_patch_grid
from tests.models.tiny import eager
from tests.pages.pictures import test_compared_run, test_prompted_run, test_windowed_run
from tests.pages.pictures.test_compared_run import NAMES

QUESTION = "where is the cat"
#: One family for each kind of what is seen: two class tokens, registers, none; two towers; words and pictures. All
#: are held against their eager path in tests/models and tests/pages/pictures; those with more to see come below.
SEEING = ("deit", "dinov3", "siglip's pictures")
COMPARING = ("clip", "siglip")
ASKED = ("paligemma", "qwen2_vl")


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[Path, LoadedModel]]:
    """Tiny random models, each in a folder and in memory."""
    made = {
        "registers": test_patch_grid.tiny("dinov2 with registers"),
        "swin": test_windowed_run.tiny(),
        "large swin": test_windowed_run.tiny(image=144),
        "swin v2": test_windowed_run.swin_v2(),
        "llava": test_prompted_run.tiny("llava"),
        "dinov3 as published": test_patch_grid.tiny("dinov3"),
    }
    made |= {name: test_patch_grid.tiny(name) for name in SEEING}
    made |= {name: test_compared_run.tiny(name) for name in COMPARING}
    made |= {name: test_prompted_run.tiny(name) for name in ASKED}
    found = {}
    for name, loaded in made.items():
        folder = tmp_path_factory.mktemp(re.sub(r"\W", "-", name))
        loaded.model.save_pretrained(folder)
        if loaded.tokenizer is not None:
            loaded.tokenizer.save_pretrained(folder)
        found[name] = folder, loaded
    return found


@pytest.fixture(scope="module")
def window(browser):
    """One for all families."""
    with windows(browser) as make:
        yield make(width=1280, height=900)


@pytest.fixture
def open_family(server_url, window, folders):
    """`open_family("swin")`: the page with that model and a photograph, after the visitor has agreed to load it."""

    def opened(name: str, **link: str) -> Any:
        asked = {"pic_model": "another", "pic_hub": str(folders[name][0]), "pic_from": "photo"} | link
        address = f"{server_url}/pictures?{urlencode(asked)}"
        if window.url.startswith(server_url):
            another_view(window, address)
        else:
            window.goto(address)
        window.get_by_role("button", name="Load it").click(timeout=120_000)
        return window

    return opened


def shown(page: Any) -> None:
    """Wait until the heads are drawn and no script runs."""
    page.get_by_test_id("picture").wait_for(timeout=120_000)
    page.get_by_test_id("read").get_by_text("patches").first.wait_for(timeout=60_000)
    answered(page)


def told(page: Any) -> tuple[str, list[float]]:
    """The sentence under the picture without its shares, and the shares."""
    words = read(page)
    return re.sub(r"[<>]?[\d.]+%", "%", words), [float(each) for each in re.findall(r"([\d.]+)%", words)]


def points(page: Any, place: tuple[int, int, int, int], holds: Any) -> None:
    """Point at a patch until something holds: what still comes above the picture moves it away from under the hand."""

    def again() -> bool:
        x, y = centre_of(page, *place)
        page.mouse.move(x - 2, y)
        page.mouse.move(x, y)
        return holds()

    until(again)


def says(page: Any, begins: str, row: torch.Tensor, first: int) -> bool:
    """Whether the sentence begins so, and gives the share of patches and the largest weights of a row, (K,)."""
    words, shares = told(page)
    most = row.topk(3).values
    wanted = [float(row[first:].sum()), *(float(each) for each in most if each >= 0.005)]
    return (
        words.startswith(begins)
        and len(shares) == len(wanted)
        and np.allclose(shares, 100 * np.array(wanted), atol=0.11)
    )


def usual_row(loaded: LoadedModel, run: PictureRun) -> torch.Tensor:
    """The row of layer 0, head 0 that is on show at first, by transformers' eager path where patches look at patches.

    Rows of words are held against that path in tests/pages/pictures/test_prompted_run.py.
    """
    stack = run.stacks[0]
    if stack.words:
        return stack.layers[0].weights(0)[0, 0, stack.usual]
    found = eager(loaded.model, **run.inputs)
    weights: torch.Tensor = getattr(found, "vision_model_output", found).attentions[0]
    return weights[0, 0, stack.usual]


@pytest.mark.parametrize("name", [*SEEING, *COMPARING, *ASKED])
def test_a_family_opens_from_a_folder_and_shows_the_weights_of_the_eager_path(open_family, folders, name):
    loaded = folders[name][1]
    words = QUESTION if name in ASKED else NAMES
    run = run_picture(loaded, sample("flower").pixels, words)
    stack = run.stacks[0]
    page = open_family(name, pic_question=words, pic_names=words)
    shown(page)
    expect(page.locator(".pv-chip")).to_have_text(list(stack.words) or [str(each) for each in stack.grid.special])
    looks = f"“{stack.words[0]}”" if stack.words else str(stack.grid.name(stack.usual))
    row = usual_row(loaded, run)
    until(lambda: says(page, f"From {looks}, % goes to patches", row, stack.grid.first))
    expect(page.locator(".pv-tile")).to_have_count(sum(layer.n_heads for layer in stack.layers))
    if name in COMPARING:
        expect(page.get_by_text(f"The model says {run.answer.words[0]}")).to_be_visible()
        expect(page.get_by_role("heading", name="The tower that reads text")).to_be_visible()
    if name in ASKED:
        expect(page.get_by_text("The model writes ")).to_be_visible()
    expect(page.get_by_text("The same in PyTorch")).to_have_count(0)  # it runs for the models of ours only


def test_registers_are_named_and_their_rows_are_those_of_the_eager_path(open_family, folders):
    loaded = folders["registers"][1]
    run = run_picture(loaded, sample("flower").pixels)
    weights = torch.cat(eager(loaded.model, **run.inputs).attentions)  # layers, heads, queries, keys
    page = open_family("registers")
    shown(page)
    chips = page.locator(".pv-chip")
    expect(chips).to_have_text(["class token", "register 1", "register 2", "register 3"])
    until(lambda: says(page, "From class token, % goes to patches", weights[0, 0, 0], 4))
    chips.nth(2).hover()
    until(lambda: says(page, "From register 2, % goes to patches", weights[0, 0, 2], 4))
    place = (1, 3, 4, 4)
    points(page, place, lambda: says(page, "From row 2, column 4, % goes to patches", weights[0, 0, 4 + 7], 4))
    page.locator("[data-shows=layers]").click()
    mean = weights.mean((0, 1))[4 + 7]
    begins = "In all heads of all layers, row 2, column 4 gives % to patches"
    points(page, place, lambda: says(page, begins, mean, 4))
    given = page.get_by_text("Tokens that are not patches get, in layer 0 on average: class token (")
    expect(given).to_contain_text(f"register 3 ({float(weights[0].mean((0, 1))[3]):.1%})")


def test_swin_s_windows_are_drawn_and_nobody_looks_out_of_his_own(open_family, folders):
    stacks = run_picture(folders["swin"][1], sample("flower").pixels).stacks
    page = open_family("swin")
    shown(page)
    row = stacks[0].layers[0].weights(0)[0, 0, 8 + 6]
    points(page, (1, 6, 8, 8), lambda: says(page, "From row 2, column 7, % goes to patches", row, 0))
    places = re.findall(r"row (\d), column (\d) \(", read(page))
    assert places
    assert all(int(down) <= 4 < int(across) for down, across in places)  # the upper right one of four windows
    page.get_by_text("Stage 2: 4 × 4 patches").click()
    page.mouse.move(0, 0)
    coarse = stacks[1].layers[0].weights(0)[0, 0, 4 * 2 + 2]
    until(lambda: says(page, "From row 3, column 3, % goes to patches", coarse, 0))


def test_a_stage_of_too_many_patches_is_said_to_be_left_out(open_family):
    page = open_family("large swin")
    shown(page)
    expect(page.get_by_text("Stage 1 of 36 × 36 patches is left out")).to_be_visible()


def test_swin_v2_is_shown_and_what_cannot_be_changed_takes_nothing_away(open_family):
    page = open_family("swin v2")
    shown(page)
    expect(page.get_by_text("its weights can be looked at, and nothing in it can be hidden")).to_be_visible()
    page.get_by_test_id("silence").click()
    expect(page.get_by_text("it can be shown but not changed")).to_be_visible()
    expect(page.get_by_test_id("picture")).to_be_visible()


def test_words_of_a_question_look_at_patches_and_hidden_ones_change_what_is_written(open_family, folders):
    loaded = folders["llava"][1]
    run = run_picture(loaded, sample("flower").pixels, QUESTION)
    stack = run.stack("words")
    page = open_family("llava", pic_question=QUESTION)
    shown(page)
    chips = page.locator(".pv-chip")
    expect(chips).to_have_text(list(stack.words))
    at = stack.words.index("cat")
    chips.nth(at).hover()
    row = stack.layers[0].weights(0)[0, 0, at]
    until(lambda: says(page, "From “cat”, % goes to patches", row, stack.grid.first))
    page.get_by_test_id("hide").click()
    page.mouse.click(*centre_of(page, 1, 1, 4, 4))
    expect(page.get_by_text("of 16 patches hidden")).to_be_visible()


def test_a_model_whose_pictures_torchvision_prepares_says_so(open_family, folders):
    folder = folders["dinov3 as published"][0]
    how = {"image_processor_type": "DINOv3ViTImageProcessorFast", "size": {"height": 32, "width": 32}}
    (folder / "preprocessor_config.json").write_text(json.dumps(how))
    page = open_family("dinov3 as published")
    sentence = page.get_by_text("prepares its pictures with torchvision, which is not installed here")
    expect(sentence).to_be_visible()
