import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from attnviz.base.message import Problem
from attnviz.models.tokens.encoding import encode, encode_target, supported_frames
from attnviz.models.tokens.token_spans import make_speller, token_label
from tests.models.tiny_tokenizers import byte_level, llama_like, loaded, marian, unigram, word_piece

MAKES = {"byte-level": byte_level, "WordPiece": word_piece, "Unigram": unigram, "Llama": llama_like}
TEXTS = [
    "The cat sat.",
    "  two  spaces \t and\na line  ",
    "🙂 👨‍👩‍👧 🇫🇷 👍🏽",
    "多头注意力机制。",
    "القطة جلست على السجادة",
    "cafe\u0301 naïve ﬁ ½",
    "नमस्ते สวัสดี",
    "<img src=x onerror=alert(1)> $x$ **y** [SEP] <s> <|end|>",
    "\u202eabc\u200b\ufeff\x00",
    "x",
]


@pytest.fixture(scope="module")
def models():
    return {name: loaded(build(), "encoder" if name == "WordPiece" else "decoder") for name, build in MAKES.items()}


def whole(tokens, segment=0):
    text = tokens.texts[segment]
    covered = (text[p.start : p.end] for p in tokens.spans if p.segment == segment and not p.special)
    return "".join(covered) + tokens.rests[segment]


@settings(max_examples=25, deadline=None)
@given(text=st.text(min_size=1, max_size=40), make=st.sampled_from(sorted(MAKES)))
def test_any_text_at_all_comes_back_from_its_spans(models, make, text):
    tokens = encode(models[make], text)
    clean = tokens.texts[0]
    assert len(clean) == len(text)
    assert whole(tokens) == clean
    ends = [span.end for span in tokens.spans if not span.special]
    assert ends == sorted(ends)
    words = [span.word for span in tokens.spans if span.word is not None]
    assert set(words) == set(range(len(set(words))))


@pytest.mark.parametrize("text", TEXTS)
def test_spans_joined_give_the_sentence_exactly_and_pieces_spell_what_the_tokenizer_decodes(models, smollm2, text):
    for each in (smollm2, *models.values()):
        tokens = encode(each, text)
        assert whole(tokens) == text
        assert not tokens.rests[0]
        assert tokens.inputs["input_ids"].tolist() == [list(tokens.ids)]
        assert all(span.label for span in tokens.spans)
    for each in (smollm2, models["byte-level"], models["Llama"]):
        spell = make_speller(each.tokenizer)
        ids = each.tokenizer(text, add_special_tokens=False).input_ids
        spelled = b"".join(spell(piece) for piece in each.tokenizer.convert_ids_to_tokens(ids)).decode()
        assert spelled.removeprefix(" " if each is models["Llama"] else "") == each.tokenizer.decode(ids)
        if each is not models["Llama"]:  # adds the space that was taken off above
            assert spelled == text


def test_a_chat_turn_is_framed_and_the_sentence_stays_where_it_is(smollm2):
    assert supported_frames(smollm2) == ("usual", "start", "chat")
    tokens = encode(smollm2, " Hello there ", frame="chat")
    assert whole(tokens) == " Hello there "
    assert tokens.labels[:2] == ("<|im_start|>", "system")
    mine = [span for span in tokens.spans if not span.special]
    assert "".join(span.text for span in mine) == " Hello there "
    reference = smollm2.tokenizer.apply_chat_template(
        [{"role": "user", "content": " Hello there "}], add_generation_prompt=True
    )
    assert list(tokens.ids) == list(reference["input_ids"])


def test_an_empty_sentence_is_refused_unless_the_frame_adds_tokens(smollm2, minilm):
    with pytest.raises(Problem, match="empty"):
        encode(smollm2, "")
    assert encode(minilm, "").labels == ("[CLS]", "[SEP]")
    assert encode(minilm, " \n").rests == (" \n",)


@pytest.mark.parametrize("text", ["word " * 20_000, "🙂" * 100_000, "x" * 100_000])
def test_a_hundred_thousand_characters_are_cut_with_a_notice_that_says_where(smollm2, minilm, text, monkeypatch):
    monkeypatch.setenv("ATTNVIZ_TOKEN_LIMIT", "50")
    for each in (smollm2, minilm):
        tokens = encode(each, text)
        assert len(tokens) <= 50
        assert whole(tokens) == text
        assert str(tokens.notices[0]).startswith("Cut at 50 tokens, after “")


def test_a_translator_without_offsets_is_aligned_by_its_pieces(tmp_path):
    each = loaded(marian(tmp_path), "encoder-decoder", start=1)
    for text in ("the cat sat on the mat", " don't  you?", "🙂 the cat", "THE ﬁ"):
        source, target = encode(each, text), encode_target(each, text)
        assert whole(source) == text
        assert whole(target) == text
        assert source.spans[-1].special
        assert not source.spans[0].special
        assert target.spans[0].id == 1
        assert target.spans[0].special
    pair = encode(loaded(marian(tmp_path), "encoder"), "the cat", "the mat")
    assert [whole(pair, segment) for segment in (0, 1)] == ["the cat", "the mat"]
    mine = [span for span in encode(each, "the cat sat").spans if not span.special]
    assert [span.text.strip() for span in mine] == ["the cat sat"[p.start : p.end].strip() for p in mine]


@pytest.mark.parametrize("spelled, label", [("a\u202eb", "aU+202Eb"), ("a\u200db", "a\u200db"), ("\u200d", "U+200D")])
def test_a_sign_that_turns_a_line_round_is_named_and_one_that_joins_letters_stays(spelled, label):
    assert token_label(spelled) == label
