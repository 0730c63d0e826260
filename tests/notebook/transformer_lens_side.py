"""TransformerLens around the same weights, for tests that compare with it.

It wants the library `datasets` for downloading texts, which no test does: names stand in for it while it is imported.
"""

import copy
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import GPT2Config, GPT2LMHeadModel, PreTrainedTokenizerFast

from tests.models.tiny import VOCAB

_STANDING_IN = {
    "datasets": ("load_dataset",),
    "datasets.arrow_dataset": ("Dataset",),
    "datasets.iterable_dataset": ("IterableDataset",),
    "datasets.load": ("load_dataset",),
}


def gpt2(seed: int = 0) -> GPT2LMHeadModel:
    """A small GPT-2 whose weights are large enough to make attention uneven."""
    import torch

    torch.manual_seed(seed)
    config = GPT2Config(n_layer=3, n_head=4, n_embd=32, vocab_size=VOCAB, n_positions=64, initializer_range=0.5)
    config.bos_token_id = config.eos_token_id = 0
    return GPT2LMHeadModel(config).eval()


def transformer_lens() -> Any:
    """The library, imported with names in place of `datasets`."""
    modules: dict[str, ModuleType] = {}
    for name, held in _STANDING_IN.items():
        modules[name] = ModuleType(name)
        modules[name].__path__ = []
        for each in held:
            setattr(modules[name], each, type(each, (), {}))
    absent = {name: module for name, module in modules.items() if name not in sys.modules}
    sys.modules.update(absent)
    try:
        import transformer_lens as library
        from transformer_lens import head_detector  # noqa: F401
    finally:
        for name in absent:  # not by patching sys.modules whole: that would forget what was imported meanwhile
            del sys.modules[name]
    return library


def word_tokenizer(folder: Path) -> Any:
    """A tokenizer of the words t0, t1 and so on, written into the folder and read from it."""
    words = Tokenizer(models.WordLevel({f"t{number}": number for number in range(VOCAB)}, unk_token="t0"))
    words.pre_tokenizer = pre_tokenizers.Whitespace()
    special = dict.fromkeys(("bos_token", "eos_token", "pad_token", "unk_token"), "t0")
    PreTrainedTokenizerFast(tokenizer_object=words, **special).save_pretrained(folder)
    return PreTrainedTokenizerFast.from_pretrained(folder)


def bridge(model: GPT2LMHeadModel, folder: Path) -> Any:
    """The model inside TransformerLens: no weight is folded or centred, so that activations are the model's own.

    It is a copy: the library rewires the modules that it is given.
    """
    tokenizer = word_tokenizer(folder)
    made = transformer_lens().TransformerBridge.boot_transformers(
        "gpt2", hf_model=copy.deepcopy(model), tokenizer=tokenizer, device="cpu"
    )
    made.enable_compatibility_mode(disable_warnings=True, no_processing=True)
    return made
