"""The page about pictures as a visitor uses it, without a browser: what it says, what it sends, bad input, links."""

import io
import json

import numpy as np
import pytest
import streamlit as st
from PIL import Image

from attnviz.app.links import link_reading
from tests.pages.conftest import drawn, read, sound


def scene(page):
    return drawn(page, "patch_view")[0]


def packed(**held):
    """What a canvas holds, as the link has it."""
    return link_reading.pack(held)


def png(width=40, height=30, mode="RGB"):
    pixels = np.random.default_rng(0).integers(0, 256, (height, width, 3), np.uint8)
    out = io.BytesIO()
    Image.fromarray(pixels).convert(mode).save(out, "PNG")
    return out.getvalue()


def test_an_upload_is_shown_and_a_bad_file_loses_nothing(visit):
    page = visit("pictures", pic_from="own")
    assert "It is not stored and is in no link" in read(page)
    uploader = page.get("file_uploader")[0]
    uploader.upload("mine.png", png(), "image/png").run()
    first = scene(page)
    assert "A link cannot hold your picture" in read(page)
    page.get("file_uploader")[0].upload("words.png", b"only words", "image/png").run()
    assert "words.png is not a picture in one of these formats" in read(page)
    assert scene(page)["doc"] == first["doc"]


def test_a_view_saved_with_its_picture_holds_both_and_opens_again_within_the_limit(visit):
    from attnviz.app.links.link_state import VIEW_FORMAT
    from attnviz.models.pictures.sources import MOST_BYTES
    from attnviz.pages.pictures.panels.picture_input import FORMAT, view_with_picture

    file = png()
    view = json.dumps({"format": VIEW_FORMAT, "page": "pictures", "choices": {"pic_from": "own", "pic_layer": "1"}})
    saved = view_with_picture(file, view)
    assert json.loads(saved)["format"] == FORMAT
    page = visit("pictures", pic_from="own")
    page.get("file_uploader")[0].upload("mine.png", file, "image/png").run()
    shown = scene(page)["doc"]
    again = visit("pictures", pic_from="own")
    again.get("file_uploader")[0].upload("view.json", saved.encode(), "application/json").run()
    assert not again.error
    assert (scene(again)["doc"], scene(again)["state"]["layer"]) == (shown, 1)
    longest = view_with_picture(bytes(MOST_BYTES), json.dumps({"page": "x" * 100_000}))
    assert len(longest) < st.get_option("server.maxUploadSize") * 2**20


@pytest.fixture(scope="module")
def seeing_and_reading(tmp_path_factory):
    """Tiny random models of other families, each in a folder: Swin, and LLaVA and CLIP with a tokenizer."""
    from tests.pages.pictures import test_compared_run, test_prompted_run, test_windowed_run

    folder = tmp_path_factory.mktemp("families")
    test_windowed_run.tiny().model.save_pretrained(folder / "swin")
    for name, loaded in (("llava", test_prompted_run.tiny("llava")), ("clip", test_compared_run.tiny("clip"))):
        loaded.model.save_pretrained(folder / name)
        loaded.tokenizer.save_pretrained(folder / name)
    return folder


def test_a_model_of_timm_s_opens_and_says_what_it_says_when_patches_are_hidden(visit, tmp_path):
    from tests.models.capture.timm_side import tiny
    from tests.models.loading.test_timm_folder import save, timm

    timm()
    folder = save(tiny("DINOv2's shape with registers"), tmp_path, "DINOv2's shape with registers")
    page = agreed(visit, folder, pic_view=packed(h=[1, 2]))
    header = scene(page)
    assert header["grid"] == {"rows": 4, "columns": 4, "first": 5}
    assert header["special"] == ["class token", *(f"register {number}" for number in range(1, 5))]
    assert "With 2 of 16 patches hidden" in read(page)


def agreed(visit, folder, **link):
    """The page with a model in a folder, loaded as the visitor agrees to it."""
    page = visit("pictures", pic_model="another", pic_hub=str(folder), pic_from="photo", **link)
    return sound(next(each for each in page.button if each.label == "Load it").click().run())


def test_swin_is_shown_by_stages_with_the_windows_of_every_layer(visit, seeing_and_reading):
    page = agreed(visit, seeing_and_reading / "swin", pic_view=packed(h=[0, 1, 8, 9, 2]))
    header = scene(page)
    assert header["grid"] == {"rows": 8, "columns": 8, "first": 0}
    assert header["windows"] == [[4, 0], [4, 2]]
    assert page.segmented_control(key="pic_stack").options == ["Stage 1: 8 × 8 patches", "Stage 2: 4 × 4 patches"]
    page.segmented_control(key="pic_stack").set_value("stage2").run()
    assert scene(page)["grid"] == {"rows": 4, "columns": 4, "first": 0}
    assert scene(page)["state"]["hidden"] == [0], "the patch that lies over four hidden ones of the first stage"
    assert "5 of 64 patches hidden" in read(page)


def test_a_model_of_pictures_and_words_is_asked_and_its_words_look_at_patches(visit, seeing_and_reading):
    page = agreed(visit, seeing_and_reading / "llava", pic_question="where is the cat")
    header = scene(page)
    assert (header["grid"]["rows"], header["grid"]["columns"]) == (4, 4)
    assert "cat" in header["words"]
    assert "The model writes **" in read(page)
    before = header["words"]
    page.text_input(key="pic_question").set_value("the hat").run()
    assert "hat" in scene(page)["words"]
    assert scene(page)["words"] != before


def test_a_picture_is_compared_with_descriptions_and_both_towers_are_shown(visit, seeing_and_reading):
    page = agreed(visit, seeing_and_reading / "clip", pic_names="the cat, the mat", pic_name="1", pic_text_head="2")
    text = read(page)
    assert "The model says **the " in text
    assert "Beside itself, *" in text
    assert page.selectbox(key="pic_name").value == "1"
    assert page.number_input(key="pic_text_head").value == 2
    page.text_input(key="pic_names").set_value(" ").run()
    assert "0 descriptions" in read(page)
    assert not page.exception
