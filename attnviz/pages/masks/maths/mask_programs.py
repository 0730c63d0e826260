"""A mask as programs: for SDPA, for FlexAttention, for transformers. Tests run the programs as they are shown.

Each program starts from the same random vectors as the page and leaves its attention weights in a variable `weights`.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch

from attnviz.base.message import Message
from attnviz.core import masks
from attnviz.pages.masks.maths.mask_lab import Config
from attnviz.pages.masks.maths.mask_rules import Rule, combine_rules

CELLS_LISTED = 12  #: at most so many painted cells are written one by one, more of them as a grid


@dataclass(frozen=True)
class Program:
    """Python to copy, or None where this way cannot express the mask, and a sentence about it."""

    code: str | None
    remark: Message


def tag_rules(rules: Sequence[Rule]) -> list[tuple[Rule, str]]:
    """Pair each rule with the suffix of its tensors: "" for the first of a kind, then "_2", "_3"."""
    kinds = [rule.kind for rule in rules]
    counts = [kinds[: index + 1].count(kind) for index, kind in enumerate(kinds)]
    return [(rule, "" if count == 1 else f"_{count}") for rule, count in zip(rules, counts, strict=True)]


def setup(rules: Sequence[Rule]) -> str:
    """Source of the tensors that the conditions index; it uses the names `torch` and `T`."""
    return "".join(f"{text}\n" for rule, tag in tag_rules(rules) if (text := rule.setup(tag)))


def condition(rules: Sequence[Rule]) -> str:
    """Source of all rules as one expression over q and k."""
    if not rules:
        return "(q >= 0) & (k >= 0)"
    (first, tag), *others = tag_rules(rules)
    text = first.condition(tag)
    for rule, tag in others:
        text = f"({text}) {'&' if rule.join == 'and' else '|'} ({rule.condition(tag)})"
    return text


_SENTENCE = "from attnviz.analysis.word_vectors import sentence\n\n"


def _vectors(config: Config) -> str:
    return (
        f"words = {config.tokens!r}\n"
        f"T, s = len(words), sentence(words, seed={config.seed})  # a random vector for each word\n"
        "queries, keys = s.q[None, None], s.k[None, None]  # (B, H, T, D)\n"
        "values = torch.eye(T)[None, None]  # with the identity as values, the output is the weights\n"
    )


def _matrix(config: Config) -> str:
    """Source that makes `mask` (T, T): the rules first, then the painted cells."""
    code = (
        f"{setup(config.rules)}"
        "q, k = torch.arange(T)[:, None], torch.arange(T)\n"
        f"mask = {condition(config.rules)}  # (T, T), True = may attend\n"
    )
    cells = config.paint.cells(len(config.tokens))
    if not cells:
        return code
    if len(cells) <= CELLS_LISTED:
        return code + f"for row, col, may_attend in {cells}:  # painted by hand\n    mask[row, col] = may_attend\n"
    rows = "\n".join("".join("1" if cell else "0" for cell in row) for row in whole_mask(config).tolist())
    return (
        f'painted = """\n{rows}\n""".split()\n'
        'mask = torch.tensor([[cell == "1" for cell in row] for row in painted])  # (T, T), True = may attend\n'
    )


def whole_mask(config: Config) -> torch.Tensor:
    """The mask (T, T) of the rules and the paint."""
    return config.paint.apply_to(combine_rules(config.rules, len(config.tokens)))


def _is_causal(config: Config) -> Program:
    length = len(config.tokens)
    differ = int((whole_mask(config) ^ masks.causal(length)).sum())
    if differ:
        return Program(
            None,
            Message(
                "is_causal means the causal mask and nothing else: this mask differs from it in {n} of {all} "
                "{all:cell|cells}.",
                {"n": differ, "all": length * length},
            ),
        )
    code = (
        f"import torch\nimport torch.nn.functional as F\n{_SENTENCE}{_vectors(config)}\n"
        "weights = F.scaled_dot_product_attention(queries, keys, values, is_causal=True)[0, 0]\n"
        "print(weights)\n"
    )
    return Program(code, Message("This mask is causal: a flag is enough, and the fused kernels skip half of the work."))


def _attn_mask(config: Config) -> Program:
    code = (
        f"import torch\nimport torch.nn.functional as F\n{_SENTENCE}{_vectors(config)}\n{_matrix(config)}\n"
        "weights = F.scaled_dot_product_attention(queries, keys, values, attn_mask=mask)[0, 0]\n"
        "print(weights)\n"
    )
    return Program(
        code,
        Message(
            "Takes any mask; True means attend. It is stored as {cells:,} {cells:cell|cells}, once for all heads.",
            {"cells": len(config.tokens) ** 2},
        ),
    )


def _mask_mod(config: Config) -> Program:
    if config.paint.cells(len(config.tokens)):
        tensors, looks = f"{_matrix(config)}\n", "mask[q, k]"
    else:
        tensors, looks = setup(config.rules), condition(config.rules)
    code = (
        "import torch\n"
        "from torch.nn.attention.flex_attention import create_block_mask, flex_attention\n"
        f"{_SENTENCE}{_vectors(config)}\n{tensors}\n\n"
        "def mask_mod(b, h, q, k):\n"
        f"    return {looks}\n\n\n"
        'block_mask = create_block_mask(mask_mod, B=None, H=None, Q_LEN=T, KV_LEN=T, device="cpu")\n'
        "attention = flex_attention  # on a GPU: torch.compile(flex_attention)\n"
        "weights = attention(queries, keys, values, block_mask=block_mask)[0, 0]\n"
        "print(weights)\n"
    )
    remark = Message("A function of two positions: blocks of 128 × 128 in which nothing is kept are never computed.")
    return Program(code, remark)


_TINY = """\
from transformers import AutoModel, LlamaConfig

torch.manual_seed(0)
config = LlamaConfig(
    hidden_size=32, intermediate_size=64, num_hidden_layers=2, num_attention_heads=2, vocab_size=64
)
model = AutoModel.from_config(config, attn_implementation="eager").eval()  # or any model of yours
"""


def _transformers(config: Config) -> Program:
    mask = whole_mask(config)
    head = f"import torch\n{_TINY}\nT = {len(mask)}\ninput_ids = torch.arange(T)[None] % 64\n"
    if torch.equal(mask, masks.causal(len(mask)) & mask[-1]):  # nothing but causal and padding
        code = (
            f"{head}attention_mask = torch.tensor([{mask[-1].int().tolist()}])  # (B, T): 1 = a word, 0 = padding\n"
            "position_ids = (attention_mask.cumsum(-1) - 1).clamp(min=0)\n"
            f"{_CALL.format(extra=', position_ids=position_ids')}"
        )
        return Program(code, Message("The model adds its own causal mask: this one only marks which places are words."))
    code = (
        f"{head}{_matrix(config)}"
        "lowest = torch.finfo(model.dtype).min\n"
        "attention_mask = torch.zeros(1, 1, T, T).masked_fill(~mask, lowest)  # (B, 1, Q, K), taken as it is\n"
        f"{_CALL.format(extra='')}"
    )
    return Program(
        code,
        Message(
            "A mask of four dimensions replaces the model's own: its numbers are added to the scores, 0 = may attend."
        ),
    )


_CALL = """\
with torch.no_grad():
    out = model(input_ids=input_ids, attention_mask=attention_mask{extra}, output_attentions=True)
weights = out.attentions[0][0, 0]  # layer 0, head 0: (Q, K)
print((weights > 0).int())
"""

#: way -> the mask of a config, written in this way
PROGRAMS: dict[str, Callable[[Config], Program]] = {
    "is_causal": _is_causal,
    "attn_mask": _attn_mask,
    "mask_mod": _mask_mod,
    "transformers": _transformers,
}
