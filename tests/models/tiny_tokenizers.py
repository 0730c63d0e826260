"""Tokenizers of every type, small enough to build in a test: nothing is downloaded."""

import io
import json
from pathlib import Path
from types import SimpleNamespace

import torch
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers
from transformers import (
    GPT2Config,
    GPT2LMHeadModel,
    LlamaConfig,
    MarianTokenizer,
    PreTrainedModel,
    PreTrainedTokenizerFast,
)

from attnviz.models.catalogue import LoadedModel, ModelEntry

CORPUS = ["the cat sat on the mat", "don't you think the cat's hat is nice?", "one two three, and so on"] * 20
BYTES = [f"<0x{n:02X}>" for n in range(256)]


def loaded(tokenizer, kind="decoder", start=None, model=None):
    """A LoadedModel with a tokenizer and a model, or a placeholder for code that never runs it."""
    config = LlamaConfig(max_position_embeddings=100_000, decoder_start_token_id=start)
    model = model or SimpleNamespace(device=torch.device("cpu"), config=config)
    return LoadedModel(model, tokenizer, ModelEntry(id="tiny", name="tiny", hub=None, kind=kind), "folder")


def byte_level():
    core = Tokenizer(models.BPE())
    core.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    core.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=320, special_tokens=["<|end|>"], initial_alphabet=pre_tokenizers.ByteLevel.alphabet()
    )
    core.train_from_iterator(CORPUS, trainer)
    return PreTrainedTokenizerFast(tokenizer_object=core, bos_token="<|end|>", eos_token="<|end|>")


def word_piece():
    letters = list("abcdefghijklmnopqrstuvwxyz.,!?'")
    vocab = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "the", "cat", "sat", *letters, *(f"##{c}" for c in letters)]
    core = Tokenizer(models.WordPiece({piece: i for i, piece in enumerate(vocab)}, unk_token="[UNK]"))
    core.normalizer = normalizers.BertNormalizer(lowercase=True)
    core.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    core.decoder = decoders.WordPiece()
    core.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[("[CLS]", 2), ("[SEP]", 3)],
    )
    return PreTrainedTokenizerFast(
        tokenizer_object=core, unk_token="[UNK]", cls_token="[CLS]", sep_token="[SEP]", pad_token="[PAD]"
    )


def unigram():
    """A tokenizer like SentencePiece: ▁ for spaces, bytes for unknown characters, NFKC normalisation first."""
    pieces = [("▁the", -2.0), ("▁cat", -2.0), ("▁", -3.0), *((c, -6.0) for c in "abcdefghijklmnopqrstuvwxyz.,!?'")]
    core = Tokenizer(
        models.Unigram(
            [("<unk>", -20.0), ("</s>", -20.0), *((b, -15.0) for b in BYTES), *pieces], 0, byte_fallback=True
        )
    )
    core.normalizer = normalizers.NFKC()
    core.pre_tokenizer = pre_tokenizers.Metaspace()
    core.decoder = decoders.Sequence([decoders.ByteFallback(), decoders.Metaspace()])
    core.post_processor = processors.TemplateProcessing(single="$A </s>", special_tokens=[("</s>", 1)])
    return PreTrainedTokenizerFast(tokenizer_object=core, unk_token="<unk>", eos_token="</s>")


def llama_like():
    """A tokenizer like Llama 2's: no splitting into words first, ▁ before the first word, a beginning token."""
    core = Tokenizer(models.BPE(byte_fallback=True, unk_token="<unk>"))
    core.normalizer = normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])
    core.train_from_iterator(
        CORPUS, trainers.BpeTrainer(special_tokens=["<unk>", "<s>", "</s>", *BYTES], vocab_size=330)
    )
    steps = [decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)]
    core.decoder = decoders.Sequence(steps)
    core.post_processor = processors.TemplateProcessing(single="<s> $A", special_tokens=[("<s>", 1)])
    return PreTrainedTokenizerFast(
        tokenizer_object=core, bos_token="<s>", eos_token="</s>", unk_token="<unk>", clean_up_tokenization_spaces=False
    )


def marian(folder):
    """A translator's tokenizer, written in Python, which returns no offsets."""
    import sentencepiece

    written = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(CORPUS), model_writer=written, vocab_size=60, hard_vocab_limit=False, minloglevel=2
    )
    for name in ("source.spm", "target.spm"):
        (folder / name).write_bytes(written.getvalue())
    model = sentencepiece.SentencePieceProcessor(model_proto=written.getvalue())
    pieces = ["</s>", "<unk>", *(model.id_to_piece(i) for i in range(3, model.get_piece_size())), "<pad>"]
    (folder / "vocab.json").write_text(json.dumps({piece: i for i, piece in enumerate(pieces)}), "utf-8")
    return MarianTokenizer(
        source_spm=str(folder / "source.spm"),
        target_spm=str(folder / "target.spm"),
        vocab=str(folder / "vocab.json"),
        source_lang="de",
        target_lang="en",
    )


def saved(model: PreTrainedModel, folder: Path) -> Path:
    """A folder as a visitor may have one: the model, and a tokenizer of whole words and pieces."""
    model.save_pretrained(folder)
    word_piece().save_pretrained(folder)
    return folder


def gpt2_folder(folder: Path, seed: int = 0, layers: int = 2, width: int = 32, heads: int = 4) -> str:
    """The same of a small GPT-2 that reads any text, byte by byte."""
    torch.manual_seed(seed)
    ids = {"bos_token_id": 0, "eos_token_id": 0}
    config = GPT2Config(vocab_size=320, n_positions=64, n_embd=width, n_layer=layers, n_head=heads, **ids)
    GPT2LMHeadModel(config).save_pretrained(folder)
    byte_level().save_pretrained(folder)
    return str(folder)
