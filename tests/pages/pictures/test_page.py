"""The page about pictures as a visitor uses it, without a browser: what it says, what it sends, bad input, links."""

import base64
import io
import json
from dataclasses import replace

import numpy as np
import pytest
import streamlit as st
from PIL import Image

from attnviz.app.cache import model_cache
from attnviz.canvas.shared.packing import unblob
from attnviz.models.loading import availabilities, load
from attnviz.models.pictures import composed, held_out
from attnviz.pages.pictures.panels import picture_input
from tests.pages.conftest import read, sound


def scene(page):
    headers = [unblob(each.proto.bytes)[0] for each in page.get("bidi_component") if each.proto.bytes]
    return next(header for header in headers if "grid" in header)


def packed(**held):
    """What a canvas holds, as the link has it."""
    from attnviz.app.links import link_reading

    return link_reading.pack(held)


def png(width=40, height=30, mode="RGB"):
    pixels = np.random.default_rng(0).integers(0, 256, (height, width, 3), np.uint8)
    out = io.BytesIO()
    Image.fromarray(pixels).convert(mode).save(out, "PNG")
    return out.getvalue()


def test_it_opens_with_a_digit_and_what_the_model_says_of_it(visit):
    page = sound(visit("pictures"))
    assert "The model says **" in read(page)
    assert "right on 96.4% of the held-out fifth of its data" in read(page)
    assert "trained without the last 360 pictures is right on 93.3% of those" in read(page)
    assert "This one, which learned from most of them" in read(page)
    assert "CC BY 4.0" in read(page)
    header = scene(page)
    assert header["grid"] == {"rows": 8, "columns": 8, "first": 1}
    assert header["heads"] == [4, 4, 4, 4]
    assert header["raw"]["all"]


def test_the_reader_writes_the_digits_as_words_and_shows_its_cross_attention(visit):
    page = visit("pictures", pic_model="digit-reader", pic_digits="374")
    assert "The model writes **three seven four**" in read(page)
    assert "writes 99.6% of pairs and 98.8% of triples" in read(page)
    assert "CC BY 4.0" in read(page)
    assert scene(page)["words"] == ["three", "seven", "four", "<end>"]
    patches = visit("pictures", pic_model="digit-reader", pic_digits="374", pic_stack="picture")
    assert scene(patches)["words"] is None


def test_hidden_patches_and_silenced_heads_of_a_link_change_the_answer_in_words(visit):
    page = visit(
        "pictures", pic_view=packed(h=list(range(8, 56)), s=[["picture", 1, 2]]), pic_factor="2", pic_layer="1"
    )
    text = read(page)
    assert "48 of 64 patches hidden, silenced heads 1.2, the scale of head 1.0 times 2" in text
    assert scene(page)["state"]["hidden"] == list(range(8, 56))
    assert scene(page)["state"]["silenced"] == [[1, 2]]


def test_what_a_link_asks_for_in_vain_is_said_or_left_out(visit):
    page = visit("pictures", pic_layer="999", pic_head="998", pic_view=packed(p=[3, 900], h=[4, 4000]))
    state = scene(page)["state"]
    assert (state["layer"], state["head"]) == (3, 3)
    assert (state["pins"], state["hidden"]) == ([3], [4])
    assert not page.error
    for name, asked in (("Layer", 999), ("Head", 998)):
        assert f"The link asks for “{name}” = “{asked}”; here it goes up to" in read(page)
    assert "here it goes up to" not in read(visit("pictures", pic_layer="1", pic_head="1"))


@pytest.mark.parametrize("order", ["distance", "entropy", "class"])
def test_heads_are_ordered_by_what_is_measured(visit, order):
    header = scene(visit("pictures", pic_order=order))
    assert header["ordered"]
    assert len(header["measure"]) == len(header["measureText"]) == 16
    assert len(set(header["measure"])) > 8


def test_a_drawing_in_a_link_is_read(visit):
    held = held_out()
    bitmap = held.pictures[held.like(7)].repeat(4, 0).repeat(4, 1) >= 8
    drawing = base64.b64encode(np.packbits(bitmap).tobytes()).decode()
    page = visit("pictures", pic_from="draw", pic_view=packed(d=[drawing]))
    assert "The model says **seven**" in read(page)
    assert "Draw a digit above" in read(visit("pictures", pic_from="draw"))
    several = read(visit("pictures", pic_from="draw", pic_model="digit-reader"))
    assert "Draw two or three digits above, one in each field" in several


def test_nonsense_instead_of_digits_gets_a_sentence(visit):
    page = visit("pictures", pic_digits="x")
    assert "Type digits from 0 to 9, between 1 and 1 of them" in read(page)


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


def test_an_upload_is_unpacked_when_its_turn_has_come(visit, monkeypatch):
    at_work, real = [], picture_input.read_photo

    def watched(*file):
        at_work.append(model_cache.shared().line.taken)
        return real(*file)

    monkeypatch.setattr(picture_input, "read_photo", watched)
    page = visit("pictures", pic_from="own")
    page.get("file_uploader")[0].upload("mine.png", png(), "image/png").run()
    assert at_work == [1]


def test_the_smallest_set_is_found_on_request_and_can_be_shown(visit):
    page = visit("pictures", pic_digits="8")
    next(button for button in page.button if button.key == "smallest").click().run()
    assert "patches are enough for" in read(page)
    next(button for button in page.button if button.key == "smallest-show").click().run()
    assert "patches hidden it is still **eight**" in read(page)


def test_what_is_exported_is_what_is_on_show():
    from attnviz.canvas.patch_view import PatchChoices, PatchScene
    from attnviz.models.loading import load
    from attnviz.pages.pictures.maths.picture_run import run_picture
    from attnviz.pages.pictures.panels.picture import all_heads, weights_of

    held = held_out()
    run = run_picture(load("digit-vit"), composed([held.pictures[0]]))
    layer = run.trace.layers[1]
    found = weights_of(run.stacks[0], PatchChoices(1, 2, hidden=(0, 1), factor=2.0))[2]
    scores = (layer.q[0, 2] @ layer.k[0, 2].mT * layer.scale * 2).numpy()
    scores[:, [1, 2]] = -np.inf
    expected = np.exp(scores - scores.max(-1, keepdims=True))
    expected /= expected.sum(-1, keepdims=True)
    np.testing.assert_allclose(found, expected, atol=1e-6)
    chosen = PatchChoices(1, 2, pins=(5,), hidden=(0, 1), factor=2.0)
    scene = PatchScene(b"", "image/png", (8, 8), (8, 8, 1), ("class token",), None, (4,) * 4, np.zeros((2, 16, 65)))
    (part,) = all_heads(run, run.stacks[0], scene, chosen).parts
    assert part.header["state"]["hidden"] == (0, 1)
    rows = np.frombuffer(part.payload, "<f4").reshape(4, 4, 65)
    np.testing.assert_allclose(rows[1, 2], expected[5], atol=1e-6)
    assert float(rows[:, :, 1:3].sum()) == 0
    (mean,) = all_heads(run, run.stacks[0], scene, replace(chosen, shows="mean")).parts
    rows = np.frombuffer(mean.payload, "<f4").reshape(4, 4, 65)
    np.testing.assert_allclose(rows[1, 2], expected[1:].mean(0), atol=1e-6)


def test_a_view_saved_with_its_picture_holds_both_and_opens_again_within_the_limit(visit):
    from attnviz.app.links.shared_view import VIEW_FORMAT
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


def test_a_change_too_small_to_be_seen_is_said_to_be(visit):
    page = sound(visit("pictures", pic_factor="1.0001"))
    assert "the scale of head 0.0 times 1.0001 it is still **" in read(page)
    assert "as without the change, to 0.1%." in read(page)


def test_a_link_to_a_folder_asks_before_it_is_loaded(visit, tmp_path, monkeypatch):
    from transformers import ViTConfig, ViTForImageClassification

    from attnviz.app.cache import model_cache

    small = {"hidden_size": 32, "num_hidden_layers": 1, "num_attention_heads": 4, "intermediate_size": 32}
    ViTForImageClassification(ViTConfig(**small, image_size=32, patch_size=16)).save_pretrained(tmp_path / "mine")
    real = model_cache.load
    monkeypatch.setattr(model_cache, "load", lambda *given: pytest.fail("loaded without a question"))
    page = visit("pictures", pic_model="another", pic_hub=str(tmp_path / "mine"), agree="true")
    assert "Load the model in" in read(page)
    monkeypatch.setattr(model_cache, "load", real)
    sound(page.button(key="agree").click().run())
    assert scene(page)["grid"]["rows"] == 2


def test_a_visit_that_asks_for_nothing_opens_on_a_model_for_photographs_that_is_here(visit, monkeypatch):
    asked = []
    states = availabilities()
    here = [replace(each, source="folder") if each.entry.id == "vit-tiny" else each for each in states]
    monkeypatch.setattr(picture_input, "availabilities", lambda: here)
    monkeypatch.setattr(picture_input.model_cache, "model", lambda name: asked.append(name) or load("digit-vit"))
    assert visit("pictures").selectbox(key="pic_model").value == "vit-tiny"
    assert visit("pictures", pic_digits="8").selectbox(key="pic_model").value == "digit-vit"
    assert asked == ["vit-tiny", "digit-vit"]


def test_photographs_are_offered_to_models_that_read_them_and_a_link_to_one_says_whose_it_is(visit):
    assert "photo" not in visit("pictures").segmented_control(key="pic_from").options
    page = visit("pictures", pic_from="photo")
    assert "vultilion" in read(page)
    assert "CC BY 2.0" in read(page)
    assert "outside what it knows" in read(page)
    assert "what it says of one means nothing" in read(page)
    assert "The model says" not in read(page)
    assert scene(page)["grid"]["rows"] == 8
