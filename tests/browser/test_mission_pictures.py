"""What a visitor reads about a picture, beside transformers' eager attention: rows, answers, hidden patches, files.

As in `test_mission.py` every number is computed a second time; this comes after it, in `make check-all`.
"""

import re
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
import torch
from PIL import Image
from torch import Tensor, nn

from tests.browser.canvas_places import drag
from tests.browser.conftest import ROOT, answered
from tests.browser.saving import open_menu
from tests.browser.test_mission import read_csv, saved
from tests.browser.test_pictures import centre_of
from tests.waiting import until

MODEL = ROOT / "attnviz/models/shipped/digit-vit"
SIDE = 8  # patches along a side of a digit
UNSEEN = [SIDE + column for column in range(1, 7)]  # the second row, from its second patch to its seventh
TOKENS = [1 + patch for patch in UNSEEN]  # the class token comes first
LAYER, HEAD = 2, 1


def seen(digit: int, hidden: pytest.MonkeyPatch | None = None) -> tuple[str, float, np.ndarray]:
    """What transformers' eager path makes of the first held-out picture of a digit: name, share, weights (L, H, T, T).

    `hidden`: nobody may look at the patches that are hidden; their scores are minus infinity before each softmax.
    """
    from transformers import ViTForImageClassification

    model = ViTForImageClassification.from_pretrained(MODEL, attn_implementation="eager").eval()
    with np.load(MODEL.parent / "held_out_digits.npz") as held:
        picture = held["pictures"][held["said"] == digit][0]
    real = nn.functional.softmax

    def blind(scores: Tensor, **how: Any) -> Tensor:
        return real(scores.index_fill(-1, torch.tensor(TOKENS), -torch.inf), **how)

    if hidden is not None:
        hidden.setattr(nn.functional, "softmax", blind)
    with torch.no_grad():
        output = model(pixel_values=torch.from_numpy(picture)[None, None].float() / 8 - 1, output_attentions=True)
    if hidden is not None:
        hidden.undo()
    shares, weights = output.logits[0].softmax(-1), torch.cat(output.attentions)
    assert (hidden is None) == bool(weights[..., TOKENS].any()), "the model was blinded where it should be"
    return model.config.id2label[int(shares.argmax())], float(shares.max()), weights.numpy()


def reads(page: Any, query: str, row: np.ndarray) -> bool:
    """Whether the sentence of a row says how much goes to patches, to which most, and how much to that."""
    most = int(row[1:].argmax())
    said = re.match(
        rf"From {query}, ([\d.]+)% goes to patches, most of all to row {most // SIDE + 1}, column {most % SIDE + 1} "
        r"\(([\d.]+)%\)",
        page.get_by_test_id("read").inner_text(),
    )
    wanted = 100 * np.array([row[1:].sum(), row[1:].max()])
    return said is not None and np.allclose([float(each) for each in said.groups()], wanted, atol=0.11)


def open_export(page: Any) -> None:
    open_menu(page.locator(".st-key-patches-out-save-menu button").first)
    page.get_by_role("button", name="SVG", exact=True).wait_for()


def test_a_digit_s_attention_is_the_model_s_own_and_hiding_patches_changes_its_answer_as_the_model_says(
    server_url, new_page, monkeypatch
):
    page = new_page(width=1280, height=900)
    page.goto(f"{server_url}/pictures?pic_digits=8")
    name, share, weights = seen(8)
    page.get_by_text(f"The model says {name} and is {share:.1%} sure").wait_for(timeout=120_000)
    answered(page)
    page.locator(f".pv-tile[data-head='{LAYER}.{HEAD}']").click()
    page.wait_for_url(re.compile(rf"pic_head={HEAD}"))
    answered(page)
    row = weights[LAYER, HEAD]
    until(lambda: reads(page, "class token", row[0]))
    page.mouse.move(*centre_of(page, 2, 5), steps=12)
    until(lambda: reads(page, "row 3, column 6", row[1 + 2 * SIDE + 5]))
    open_export(page)
    table = read_csv(saved(page, "CSV, the numbers"))
    np.testing.assert_allclose(np.reshape([float(line["weight"]) for line in table], row.shape), row, atol=2e-5)
    page.keyboard.press("Escape")

    page.get_by_test_id("hide").click()
    drag(page, centre_of(page, 1, 1), centre_of(page, 1, 6))
    name, share, _ = seen(8, monkeypatch)
    told = page.get_by_text(re.compile(rf"With 6 of 64 patches hidden.*{name} \({share:.1%}\)"))
    told.wait_for()
    answered(page)
    open_export(page)
    svg = ElementTree.parse(saved(page, "SVG")).getroot()
    assert f"layer {LAYER}, head {HEAD}" in " ".join(svg.itertext())
    png = Image.open(saved(page, "PNG"))
    assert png.size == tuple(2 * float(svg.attrib[side]) for side in ("width", "height"))

    again = new_page(width=1280, height=900)
    again.goto(page.url)
    again.get_by_text(re.compile(rf"With 6 of 64 patches hidden.*{name} \({share:.1%}\)")).wait_for(timeout=120_000)
    until(lambda: again.locator(".pv-title").inner_text() == f"Layer {LAYER}, head {HEAD}")
