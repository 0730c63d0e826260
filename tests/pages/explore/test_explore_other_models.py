"""Models from a folder that the visitor names: tiny random ones of families that the catalogue does not have."""

import pytest
from transformers import (
    DebertaV2Config,
    DebertaV2ForMaskedLM,
    MarianConfig,
    MarianMTModel,
)

from tests.models.capture.tiny_config import tiny
from tests.models.tiny import bert
from tests.models.tiny_tokenizers import marian, word_piece
from tests.pages.conftest import canvases_on, said, sound


def translator(folder):
    tokenizer = marian(folder)
    size = len(tokenizer)
    return MarianMTModel(
        tiny(MarianConfig, vocab_size=size, pad_token_id=size - 1, decoder_start_token_id=size - 1)
    ), tokenizer


def masked(_folder):
    tokenizer = word_piece()
    tokenizer.add_special_tokens({"mask_token": "[MASK]"})
    return bert(), tokenizer


def weights_only(_folder):
    """A model of a family whose attention weights are all that can be read: DeBERTa with its scores of positions."""
    positions = {"relative_attention": True, "pos_att_type": ["c2p", "p2c"]}
    tokenizer = word_piece()
    return DebertaV2ForMaskedLM(tiny(DebertaV2Config, vocab_size=len(tokenizer), **positions)), tokenizer


@pytest.fixture
def agreed(visit, tmp_path):
    """`agreed(make, text="...")`: the explorer over a made model in a folder, once the visitor let it be loaded."""

    def opened(make, **link):
        for part in make(tmp_path):
            part.save_pretrained(tmp_path / "mine")
        page = visit("explore", model="other", hub_id=str(tmp_path / "mine"), **link)
        return page.button(key="agree").click().run()

    return opened


def test_an_encoder_decoder_has_its_three_kinds_of_attention(agreed):
    page = sound(agreed(translator, text="the cat sat", open_next="true"))
    assert "comes next with" in said(page), "what its decoder would write"
    page.text_input(key="second").set_value("one two").run()
    for stack in ("encoder", "decoder", "cross"):
        sound(page.segmented_control(key="stack").set_value(stack).run())
        assert len(canvases_on(page)) == 2


def test_a_masked_language_model_guesses_what_the_mask_hides_or_says_how_to_write_one(agreed):
    page = sound(agreed(masked, text="the [MASK] sat", open_next="true", open_what_if="true"))
    assert "the model would write" in said(page)
    page.text_area(key="text").set_value("the cat sat").run()
    assert any("Write &#91;MASK&#93;" in i.value for i in page.info)


def test_a_model_that_gives_only_its_weights_shows_them_and_says_what_cannot_be_changed(agreed):
    panels = {f"open_{panel}": "true" for panel in ("stages", "what_if", "why", "next", "average", "beside")}
    page = agreed(weights_only, text="the cat sat", **panels)
    assert not page.exception
    assert len(canvases_on(page)) >= 2
    assert "gives" in said(page)
    assert "its mask and scale cannot be changed" in " ".join(e.value for e in page.error)
    assert len(page.error) == 3, "the stages, the what-if and why, and nothing else"
    page.segmented_control(key="show").set_value("values").run()
    assert not page.exception
    assert len(page.error) == 1
    assert canvases_on(page), "the overview stays"
