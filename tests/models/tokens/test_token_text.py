"""What a piece spells is found out by asking the tokenizer what it makes of pieces, whatever it is made of."""

import pytest
from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast

from attnviz.models.tokens.token_spans import speller

BYTE_LEVEL, WORD_PIECE, SUFFIXED, PLAIN = "byte level", "word piece", "suffixed", "plain"
#: what "Ã¤", "##b" and "c</w>" spell in each
SPELLED = {
    BYTE_LEVEL: ("ä", "##b", "c</w>"),
    WORD_PIECE: ("Ã¤", "b", "c</w>"),
    SUFFIXED: ("Ã¤", "##b", "c"),
    PLAIN: ("Ã¤", "##b", "c</w>"),
}


def tokenizer(decoder=None, before=None):
    core = Tokenizer(models.BPE({"a": 0}, []))
    if decoder is not None:
        core.decoder = decoder
    if before is not None:
        core.pre_tokenizer = before
    return PreTrainedTokenizerFast(tokenizer_object=core)


@pytest.mark.parametrize(
    "decoder, before, kind",
    [
        (decoders.ByteLevel(), pre_tokenizers.ByteLevel(), BYTE_LEVEL),
        (decoders.ByteLevel(), None, BYTE_LEVEL),
        (None, pre_tokenizers.ByteLevel(add_prefix_space=False), BYTE_LEVEL),
        (
            None,
            pre_tokenizers.Sequence([pre_tokenizers.Digits(), pre_tokenizers.ByteLevel(use_regex=False)]),
            BYTE_LEVEL,
        ),
        (decoders.Sequence([decoders.Replace("~", " "), decoders.ByteLevel()]), None, BYTE_LEVEL),
        (decoders.WordPiece(), pre_tokenizers.BertPreTokenizer(), WORD_PIECE),
        (decoders.WordPiece(cleanup=False), None, WORD_PIECE),
        (decoders.BPEDecoder(), pre_tokenizers.Whitespace(), SUFFIXED),
        (decoders.BPEDecoder(suffix="</w>"), None, SUFFIXED),
        (decoders.Metaspace(), pre_tokenizers.Metaspace(), PLAIN),
        (
            decoders.Sequence([decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse()]),
            None,
            PLAIN,
        ),
        (decoders.CTC(), None, PLAIN),
        (None, pre_tokenizers.Whitespace(), PLAIN),
        (None, None, PLAIN),
    ],
)
def test_markers_are_those_of_the_decoder_or_of_what_splits(decoder, before, kind):
    spell = speller(tokenizer(decoder, before))
    assert tuple(spell(piece).decode() for piece in ("Ã¤", "##b", "c</w>")) == SPELLED[kind]


def test_a_tokenizer_in_python_that_refuses_pieces_of_others_is_taken_as_plain():
    class Refusing:
        is_fast = False

        def get_added_vocab(self):
            return {"<s>": 0}

        def convert_tokens_to_string(self, pieces):
            raise KeyError(pieces[0])

    spell = speller(Refusing())
    assert spell("▁a") == b" a"
    assert spell("<s>") == b"<s>"
