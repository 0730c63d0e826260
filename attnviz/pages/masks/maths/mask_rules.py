"""The presets of the mask page: each with its parameters, its matrix, and the condition that a program would write.

A condition is Python over `q` and `k`, the positions of query and key (tensors that broadcast), and `T`,
the number of words. The same text is executed here, and shown for the reader to run in a notebook.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import accumulate, cycle, pairwise, takewhile
from typing import Any, Literal, TypeVar

from torch import Tensor

from attnviz.base.message import Message, Problem
from attnviz.core import masks, patterns

RuleValue = int | bool | str
Values = Mapping[str, Any]
Join = Literal["and", "or"]
Joinable = TypeVar("Joinable", Tensor, patterns.Pattern)


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
    pattern: Callable[[int, Values], patterns.Pattern] | None  #: None where keys are drawn at random and form no runs
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

    def pattern(self, length: int) -> patterns.Pattern | None:
        """Which keys each query sees, countable at any length; None for keys drawn at random."""
        made = KINDS[self.kind].pattern
        return made(length, dict(self.values)) if made else None

    def matrix(self, length: int) -> Tensor:
        """The same as a boolean (T, T)."""
        pattern = self.pattern(length)
        if pattern is not None:
            return pattern.tensor()
        v: Values = dict(self.values)
        return masks.random(length, length, v["keys"], v["seed"], both_sides=v["both_sides"])

    def condition(self, tag: str = "") -> str:
        return KINDS[self.kind].condition(dict(self.values), tag)

    def setup(self, tag: str = "") -> str:
        return KINDS[self.kind].setup(dict(self.values), tag)


def combined(rules: Sequence[Rule], length: int) -> Tensor:
    """The boolean matrix (T, T) of all rules, joined from the first to the last; all True without rules."""
    return joined(rules, [rule.matrix(length) for rule in rules], masks.everything(length))


def joined(rules: Sequence[Rule], parts: Sequence[Joinable], everything: Joinable) -> Joinable:
    """`parts`, the mask or pattern of each rule, joined from the first to the last; `everything` without rules."""

    def join(so_far: Joinable, following: tuple[Rule, Joinable]) -> Joinable:
        rule, part = following
        return so_far & part if rule.join == "and" else so_far | part

    return reduce(join, list(zip(rules, parts, strict=True))[1:], parts[0]) if rules else everything


def document_lengths(text: str) -> tuple[int, ...]:
    """The numbers in "4, 3, 5"; raises a Problem when there is anything else."""
    pieces = text.replace(",", " ").split()
    if not pieces or not all(piece.isdecimal() and 1 <= int(piece) <= 4096 for piece in pieces):
        raise Problem("Document lengths {text} must be whole numbers of at least 1, such as 4, 3, 5.", text=repr(text))
    return tuple(int(piece) for piece in pieces)


def cut(lengths: Sequence[int], total: int) -> list[int]:
    """`lengths` again and again until `total` is used up; the last one is cut."""
    ends = takewhile(lambda end: end < total, accumulate(cycle(lengths)))
    return [end - start for start, end in pairwise((0, *ends, total))]


def _dilated(v: Values, _tag: str) -> str:
    distance = "(q - k).abs()" if v["both_sides"] else "(q - k)"
    side = "" if v["both_sides"] else "(k <= q) & "
    reach = f" & ({distance} <= {(v['window'] - 1) * v['dilation']})" if v["window"] else ""
    return f"{side}({distance} % {v['dilation']} == 0){reach}"


def _blocks(v: Values, _tag: str) -> str:
    block, near, first = v["block"], v["neighbours"], v["global_tokens"]
    if v["both_sides"]:
        near_by = f"((q // {block} - k // {block}).abs() <= {near})"
        return f"{near_by} | (k < {first}) | (q < {first})" if first else near_by
    near_by = f"(q // {block} - k // {block} <= {near})"
    return f"(k <= q) & ({near_by} | (k < {first}))" if first else f"(k <= q) & {near_by}"


def _blocks_pattern(length: int, v: Values) -> patterns.Pattern:
    near = patterns.block_sparse(length, length, v["block"], neighbours=v["neighbours"], both_sides=v["both_sides"])
    return near | patterns.global_tokens(length, length, v["global_tokens"], both_sides=v["both_sides"])


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
            lambda n, v: patterns.everything(n),
            lambda v, _tag: "(q >= 0) & (k >= 0)",
        ),
        RuleKind(
            "causal",
            Message("causal"),
            Message("No word looks ahead, as in GPT-2 and Llama."),
            (),
            lambda n, v: patterns.causal(n),
            lambda v, _tag: "k <= q",
        ),
        RuleKind(
            "window",
            Message("sliding window"),
            Message("Only the nearest words: the first Mistral 7B, every other layer of Gemma 2."),
            (RuleParameter("window", Message("words seen, itself included"), 4, 1, 64), _BOTH_SIDES),
            lambda n, v: patterns.sliding_window(n, n, v["window"], both_sides=v["both_sides"]),
            lambda v, _tag: (
                f"(q - k).abs() < {v['window']}" if v["both_sides"] else f"(k <= q) & (q - k < {v['window']})"
            ),
        ),
        RuleKind(
            "prefix",
            Message("prefix"),
            Message("The prompt reads itself in both directions, the rest is causal: T5 as a prefix LM, PaliGemma."),
            (RuleParameter("prefix_len", Message("words in the prefix"), 3, 0, 64),),
            lambda n, v: patterns.prefix(n, n, min(v["prefix_len"], n)),
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
            lambda n, v: patterns.padding(n, n, max(0, n - v["pads"]), side=v["side"]),
            lambda v, _tag: (
                "(q >= 0) & " + (f"(k < T - {v['pads']})" if v["side"] == "right" else f"(k >= {v['pads']})")
            ),
        ),
        RuleKind(
            "documents",
            Message("packed documents"),
            Message("Several texts packed in one row do not see each other: this is how training batches are filled."),
            (RuleParameter("lengths", Message("words in each, then from the first again"), "4, 3, 5"),),
            lambda n, v: patterns.documents(n, n, cut(document_lengths(v["lengths"]), n)),
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
            lambda n, v: patterns.dilated(n, n, v["dilation"], window=v["window"] or None, both_sides=v["both_sides"]),
            _dilated,
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
            _blocks_pattern,
            _blocks,
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
