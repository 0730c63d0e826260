"""Models from a folder that the visitor names: tiny random ones of families that the catalogue does not have."""

import pytest
from transformers import (
    BertConfig,
    BertForMaskedLM,
    DebertaV2Config,
    DebertaV2ForMaskedLM,
    MarianConfig,
    MarianMTModel,
)

from tests.models.tiny_tokenizers import marian, word_piece
from tests.pages.conftest import canvases_on, said, sound


def agreed(visit, **link):
    """The explorer as a link opens it, after the visitor said that the folder may be loaded."""
    return visit("explore", **link).button(key="agree").click().run()


@pytest.fixture
def translator(tmp_path):
    tokenizer = marian(tmp_path)
    size = len(tokenizer)
    width = {"d_model": 32, "encoder_ffn_dim": 32, "decoder_ffn_dim": 32, "max_position_embeddings": 64}
    heads = {"encoder_attention_heads": 4, "decoder_attention_heads": 4, "encoder_layers": 2, "decoder_layers": 2}
    start = {"pad_token_id": size - 1, "decoder_start_token_id": size - 1}
    folder = tmp_path / "translator"
    MarianMTModel(MarianConfig(vocab_size=size, **width, **heads, **start)).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return str(folder)


@pytest.fixture
def masked(tmp_path):
    tokenizer = word_piece()
    tokenizer.add_special_tokens({"mask_token": "[MASK]"})
    width = {"hidden_size": 32, "num_attention_heads": 4, "num_hidden_layers": 2, "intermediate_size": 32}
    folder = tmp_path / "masked"
    BertForMaskedLM(BertConfig(vocab_size=len(tokenizer), **width)).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return str(folder)


def test_an_encoder_decoder_has_its_three_kinds_of_attention(visit, translator):
    page = sound(agreed(visit, model="other", hub_id=translator, text="the cat sat", open_next="true"))
    assert "comes next with" in said(page), "what its decoder would write"
    page.text_input(key="second").set_value("one two").run()
    for stack in ("encoder", "decoder", "cross"):
        sound(page.segmented_control(key="stack").set_value(stack).run())
        assert len(canvases_on(page)) == 2


def test_a_masked_language_model_guesses_what_the_mask_hides_or_says_how_to_write_one(visit, masked):
    page = sound(
        agreed(visit, model="other", hub_id=masked, text="the [MASK] sat", open_next="true", open_what_if="true")
    )
    assert "the model would write" in said(page)
    page.text_area(key="text").set_value("the cat sat").run()
    assert any("Write &#91;MASK&#93;" in i.value for i in page.info)


def test_a_model_that_gives_only_its_weights_shows_them_and_says_what_cannot_be_changed(visit, tmp_path):
    """A model of a family whose attention weights are all that can be read: DeBERTa with its scores of positions."""
    tokenizer, folder = word_piece(), tmp_path / "weights-only"
    config = DebertaV2Config(
        vocab_size=len(tokenizer),
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=4,
        intermediate_size=37,
        relative_attention=True,
        pos_att_type=["c2p", "p2c"],
        max_position_embeddings=64,
    )
    DebertaV2ForMaskedLM(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    panels = {f"open_{panel}": "true" for panel in ("stages", "what_if", "why", "next", "average", "beside")}
    page = agreed(visit, model="other", hub_id=str(folder), text="the cat sat", **panels)
    assert not page.exception
    assert len(canvases_on(page)) >= 2
    assert "gives" in said(page)
    sentence = " ".join(e.value for e in page.error)
    assert "its mask and scale cannot be changed" in sentence
    assert len(page.error) == 3, "the stages, the what-if and why, and nothing else"
    page.segmented_control(key="show").set_value("values").run()
    assert not page.exception
    assert len(page.error) == 1
    assert page.text_area(key="text").value == "the cat sat"
    assert canvases_on(page), "the overview stays"
