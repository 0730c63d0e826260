"""The presets of the mask page: each with its parameters, its matrix, and the condition that a program would write.

A condition is Python over `q` and `k`, the positions of query and key (tensors that broadcast), and `T`,
the number of words. It is shown for the reader to run in a notebook; a test holds it to what is computed here.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import torch
from torch import Tensor

from attnviz.base.message import Message
from attnviz.core import masks

RuleValue = int | bool | str
Values = Mapping[str, Any]
Join = Literal["and", "or"]
#: which keys (K,) queries at positions (Q, 1) see, of so many words
Sees = Callable[[Tensor, Tensor, int, Values], Tensor]


@dataclass(frozen=True)
class RuleParameter:
    """One parameter: a whole number between `least` and `most`, a switch, one of `options`, or a list in text."""

    name: str
    label: Message
    default: RuleValue
    least: int = 0
    most: int = 64
    options: tuple[str, ...] = ()


@dataclass(frozen=True)
class RuleKind:
    """A preset. `setup` makes tensors that `condition` indexes; both are Python text.

    Both take a tag, such as "" or "_2", that is appended to the tensors' names, so that one kind can be used twice.
    """

    id: str
    title: Message
    lesson: Message
    parameters: tuple[RuleParameter, ...]
    sees: Sees | None  #: None where keys are drawn at random
    condition: Callable[[Values, str], str]
    setup: Callable[[Values, str], str] = lambda _values, _tag: ""


@dataclass(frozen=True)
class Rule:
    """A preset with its values, and how it is joined to the rules before it (the first rule's `join` is ignored)."""

    kind: str
    values: tuple[tuple[str, RuleValue], ...] = ()
    join: Join = "and"

    @staticmethod
    def of(kind: str, join: Join = "and", **values: RuleValue) -> "Rule":
        """A rule, with defaults for values not given."""
        return Rule(kind, tuple((p.name, values.get(p.name, p.default)) for p in KINDS[kind].parameters), join)

    def strips(self, length: int, rows: int) -> Iterator[Tensor]:
        """Boolean strips (rows, T): the keys that each query may attend to. Random keys are drawn row by row."""
        v: Values = dict(self.values)
        sees = KINDS[self.kind].sees
        queries, keys = (axis.int() for axis in masks.positions(length))  # half the memory of a strip's distances
        luck = torch.Generator().manual_seed(v.get("seed", 0))
        for some in queries.split(rows):
            if sees is None:
                yield masks.sample_keys((keys <= some) | v["both_sides"], v["keys"], luck)
            else:
                yield sees(some, keys, length, v)

    def condition(self, tag: str = "") -> str:
        return KINDS[self.kind].condition(dict(self.values), tag)

    def setup(self, tag: str = "") -> str:
        return KINDS[self.kind].setup(dict(self.values), tag)


def combine_rules(rules: Sequence[Rule], length: int) -> Tensor:
    """The boolean matrix (T, T) of all rules, joined from the first to the last; all True without rules."""
    return next(combine_strips(rules, length, length))


def combine_strips(rules: Sequence[Rule], length: int, rows: int) -> Iterator[Tensor]:
    """The matrix of `combine_rules` in strips of (rows, T)."""
    rules = rules or (Rule("none"),)
    for first, *others in zip(*(rule.strips(length, rows) for rule in rules), strict=True):
        visible = first
        for rule, strip in zip(rules[1:], others, strict=True):
            visible = visible & strip if rule.join == "and" else visible | strip
        yield visible


def document_lengths(text: str) -> tuple[int, ...]:
    """The numbers in "4, 3, 5"; raises a Problem when there is anything else."""
    pieces = text.replace(",", " ").split()
    if not pieces or not all(piece.isdecimal() and 1 <= int(piece) <= 4096 for piece in pieces):
        raise masks.wrong_lengths(repr(text))
    return tuple(int(piece) for piece in pieces)


def _see_documents(q: Tensor, k: Tensor, n: int, v: Values) -> Tensor:
    """The documents come again and again until all words are used up; the last one is cut."""
    lengths = document_lengths(v["lengths"])
    document = masks.document_ids(lengths * (n // sum(lengths) + 1))
    return document[q] == document[k]


def _see_blocks(q: Tensor, k: Tensor, n: int, v: Values) -> Tensor:
    apart, first = q // v["block"] - k // v["block"], v["global_tokens"]
    if v["both_sides"]:
        return (apart.abs() <= v["neighbours"]) | (k < first) | (q < first)
    return (k <= q) & ((apart <= v["neighbours"]) | (k < first))


def _dilated_condition(v: Values, _tag: str) -> str:
    distance = "(q - k).abs()" if v["both_sides"] else "(q - k)"
    side = "" if v["both_sides"] else "(k <= q) & "
    reach = f" & ({distance} <= {(v['window'] - 1) * v['dilation']})" if v["window"] else ""
    return f"{side}({distance} % {v['dilation']} == 0){reach}"


def _blocks_condition(v: Values, _tag: str) -> str:
    block, near, first = v["block"], v["neighbours"], v["global_tokens"]
    if v["both_sides"]:
        near_by = f"((q // {block} - k // {block}).abs() <= {near})"
        return f"{near_by} | (k < {first}) | (q < {first})" if first else near_by
    near_by = f"(q // {block} - k // {block} <= {near})"
    return f"(k <= q) & ({near_by} | (k < {first}))" if first else f"(k <= q) & {near_by}"


def _documents_setup(v: Values, tag: str) -> str:
    lengths = list(document_lengths(v["lengths"]))
    return (
        f"lengths = torch.tensor({lengths}).repeat(T // {sum(lengths)} + 1)\n"
        f"document{tag} = torch.arange(len(lengths)).repeat_interleave(lengths)[:T]"
    )


def _random_setup(v: Values, tag: str) -> str:
    visible = "torch.ones(T, T, dtype=torch.bool)" + ("" if v["both_sides"] else ".tril()")
    return (
        f"visible = {visible}\n"
        f"luck = torch.rand(T, T, generator=torch.Generator().manual_seed({v['seed']})) + visible\n"
        f"chosen = luck.topk(min({v['keys']}, T), dim=-1).indices\n"
        f"drawn{tag} = torch.zeros_like(visible).scatter(-1, chosen, True) & visible"
    )


_BOTH_SIDES = RuleParameter("both_sides", Message("also look ahead"), False)

KINDS: dict[str, RuleKind] = {
    kind.id: kind
    for kind in (
        RuleKind(
            "none",
            Message("no mask"),
            Message("Every word may look at every word, as in BERT."),
            (),
            lambda q, k, n, v: (q >= 0) & (k >= 0),
            lambda v, _tag: "(q >= 0) & (k >= 0)",
        ),
        RuleKind(
            "causal",
            Message("causal"),
            Message("No word looks ahead, as in GPT-2 and Llama."),
            (),
            lambda q, k, n, v: k <= q,
            lambda v, _tag: "k <= q",
        ),
        RuleKind(
            "window",
            Message("sliding window"),
            Message("Only the nearest words: the first Mistral 7B, every other layer of Gemma 2."),
            (RuleParameter("window", Message("words seen, itself included"), 4, 1, 64), _BOTH_SIDES),
            lambda q, k, n, v: (q - k).abs() < v["window"] if v["both_sides"] else (k <= q) & (q - k < v["window"]),
            lambda v, _tag: (
                f"(q - k).abs() < {v['window']}" if v["both_sides"] else f"(k <= q) & (q - k < {v['window']})"
            ),
        ),
        RuleKind(
            "prefix",
            Message("prefix"),
            Message("The prompt reads itself in both directions, the rest is causal: T5 as a prefix LM, PaliGemma."),
            (RuleParameter("prefix_len", Message("words in the prefix"), 3, 0, 64),),
            lambda q, k, n, v: (k <= q) | (k < v["prefix_len"]),
            lambda v, _tag: f"(k <= q) | (k < {v['prefix_len']})",
        ),
        RuleKind(
            "padding",
            Message("padding"),
            Message("Places that only fill up a batch are never looked at."),
            (
                RuleParameter("pads", Message("places of padding"), 2, 0, 64),
                RuleParameter("side", Message("side of the padding"), "right", options=("right", "left")),
            ),
            lambda q, k, n, v: (q >= 0) & (k < n - v["pads"] if v["side"] == "right" else k >= v["pads"]),
            lambda v, _tag: (
                "(q >= 0) & " + (f"(k < T - {v['pads']})" if v["side"] == "right" else f"(k >= {v['pads']})")
            ),
        ),
        RuleKind(
            "documents",
            Message("packed documents"),
            Message("Several texts packed in one row do not see each other: this is how training batches are filled."),
            (RuleParameter("lengths", Message("words in each, then from the first again"), "4, 3, 5"),),
            _see_documents,
            lambda v, tag: f"document{tag}[q] == document{tag}[k]",
            _documents_setup,
        ),
        RuleKind(
            "dilated",
            Message("dilated"),
            Message("Every n-th word: it reaches far with few pairs, as in LongNet and Longformer."),
            (
                RuleParameter("dilation", Message("step"), 2, 1, 32),
                RuleParameter("window", Message("at most (0: no limit)"), 0, 0, 64),
                _BOTH_SIDES,
            ),
            lambda q, k, n, v: masks.dilated_between(q, k, v["dilation"], v["window"] or None, v["both_sides"]),
            _dilated_condition,
        ),
        RuleKind(
            "blocks",
            Message("blocks with global words"),
            Message("Blocks of neighbours, and a few words that every word sees, as in BigBird."),
            (
                RuleParameter("block", Message("words in a block"), 3, 1, 64),
                RuleParameter("neighbours", Message("neighbouring blocks"), 1, 0, 16),
                RuleParameter("global_tokens", Message("global words"), 1, 0, 16),
                _BOTH_SIDES,
            ),
            _see_blocks,
            _blocks_condition,
        ),
        RuleKind(
            "random",
            Message("random"),
            Message("A few keys drawn at random for each query: BigBird's third ingredient."),
            (
                RuleParameter("keys", Message("keys for each query"), 3, 1, 64),
                RuleParameter("seed", Message("seed"), 0, 0, 9999),
                _BOTH_SIDES,
            ),
            None,
            lambda v, tag: f"drawn{tag}[q, k]",
            _random_setup,
        ),
    )
}
