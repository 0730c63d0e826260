"""One attention score taken apart: the sentence, the table of parts, its margins, and what is left when one is cut."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from attnviz.base.words import _
from attnviz.canvas.shared.component import mount_component
from attnviz.figures.score_table import part_label
from attnviz.live import canvas_wording

LONGEST_PART = 40  #: characters of a part's name


@dataclass(frozen=True, eq=False)
class PartCut:
    """What is left of the weight with a part cut out of the keys; `total`: with it ablated in the whole model."""

    part: str
    before: float
    after: float
    total: float | None
    row: np.ndarray  #: (K,) the row's weights with the path cut
    estimate: float  #: the log-odds that the table foretells


@dataclass(frozen=True, eq=False)
class ScoreStep:
    """The numbers of a score, at one step of a training."""

    row: np.ndarray  #: (K,) weights of the query
    table: np.ndarray  #: (queries, keys)
    part: str  #: the part of the key that adds most,
    value: float  #: what it adds,
    source: int | None  #: and where it was read; at the key itself it needs no arc
    sums: Sequence[str] = ()  #: what the sum is, in lines

    @property
    def header(self) -> dict[str, Any]:
        return {
            "row": np.round(self.row.astype(float), 5).tolist(),
            "values": np.round(self.table.astype(float), 7).tolist(),
            "part": self.part,
            "value": self.value,
            "source": self.source,
            "sums": list(self.sums),
        }


@dataclass(frozen=True, eq=False)
class ScoreFigure:
    """A cell's score as parts of the query by parts of the key, as a part of a figure too."""

    tokens: Sequence[str]  #: the sentence: keys by position, and the query
    query: int | None  #: its place among them; None: no arc is drawn
    key: int
    head: str
    queries: Sequence[str]  #: names of parts; the last is all others
    keys: Sequence[str]
    steps: Sequence[ScoreStep]  #: one, or one for each step of a training
    at: int = 0  #: which of them is on show
    cut: PartCut | None = None
    label: str = ""  #: the answer, for those who hear it
    cuts: bool = True  #: whether parts can be cut
    title: str = field(default="")

    @property
    def scene(self) -> str:
        return "score"

    @property
    def header(self) -> dict[str, Any]:
        cut, here = self.cut, self.steps[self.at]
        return {
            "tokens": [token.strip() or "␣" for token in self.tokens],
            "query": self.query,
            "key": self.key,
            "head": self.head,
            "queries": [part_label(name) for name in self.queries],
            "keys": [part_label(name) for name in self.keys],
            "keyParts": list(self.keys),
            "keyNames": {name: part_label(name) for name in (*self.keys, here.part)},
            **here.header,
            "steps": [step.header for step in self.steps] if len(self.steps) > 1 else None,
            "at": self.at,
            "cut": cut
            and {
                "part": cut.part,
                "before": cut.before,
                "after": cut.after,
                "total": cut.total,
                "row": np.round(cut.row, 5).tolist(),
            },
            "title": self.title,
            "colours": canvas_wording.scene_colours(),
            "words": _texts(self.label, self.cuts),
        }

    @property
    def payload(self) -> bytes:
        return b""


def score_table(key: str, figure: ScoreFigure, *, on_cut: Callable[[str], None] | None = None, bring: int = 0) -> None:
    """Draw the table; `on_cut` receives the part to cut, "" for none.

    Another number `bring` scrolls it into the window. With several steps it shows the one on which the training run on
    the same page stands.
    """
    header = figure.header
    names = {*header["keyNames"], ""}
    mount_component(
        "score_table",
        key,
        "cut",
        header | {"bring": bring},
        lambda report: part if (part := str(report.get("part", ""))[:LONGEST_PART]) in names else None,
        on_cut or (lambda _part: None),
    )


def is_shown(value: float) -> bool:
    """Whether a number is not written as 0.000."""
    return abs(value) >= 5e-4


def describe_sum(word: str, score: float, baseline: float, outside: float = 0.0) -> list[str]:
    """What a table's sum is: the score of a key above that of its rivals, and what of it no part carries."""
    numbers = f"{score:z.2f} {baseline:z.2f} {score - baseline:+z.3f} {outside:+z.3f}".replace("-", "−").split()
    written = dict(zip(("score", "baseline", "difference", "outside"), numbers, strict=True))
    above = _("= “{key}” {score}, its rivals {baseline}: {difference}").format(key=word.strip(), **written)
    return [above, *([_("{outside} no part carries").format(**written)] if is_shown(outside) else [])]


def _texts(label: str, cuts: bool) -> dict[str, str]:
    """Sentences of the picture; {names} are filled in by the browser."""
    texts = {
        "label": label,
        "looks": _("head {head} looks here: {share}"),
        "wrote": _("{part} read it here: {value}"),
        "of_key": _("columns: parts of the key; rows: parts of the query"),
        "sum": _("sum {sum}"),
    }
    if not cuts:
        return texts
    return texts | {
        "cut": _("Cut it out of this head’s keys:"),
        "cut_numbers": _("{before} → {after} with this path cut."),
        "cut_total": _("{before} → {after} with this path cut; {total} with {part} switched off everywhere."),
    }
