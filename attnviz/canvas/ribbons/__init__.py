"""A sentence whose words pour into one of them, with all heads, mask, scale and matrix within reach of a hand."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from attnviz.base import raw_scores
from attnviz.base.head_record import HeadData, RibbonsState
from attnviz.base.record_json import from_json, to_json
from attnviz.base.words import _
from attnviz.canvas.shared.component import mount_component
from attnviz.live import canvas_wording
from attnviz.live.head_header import name_tokens


@dataclass(frozen=True, eq=False)
class RibbonsFigure:
    """The picture of a word in one exact head `data`, for a file; its film shows how ribbons unfold into the matrix."""

    data: HeadData
    state: RibbonsState
    title: str = ""
    glued: Sequence[int] = ()  #: tokens that no blank is before

    @property
    def scene(self) -> str:
        return "ribbons"

    @property
    def header(self) -> dict[str, Any]:
        return {
            "q": list(self.data.tokens_q),
            "glued": list(self.glued),
            "raw": to_json(raw_scores.pack([self.data], 32)[0]),
            "state": to_json(self.state),
            "title": self.title,
            "colours": canvas_wording.scene_colours(),
            "words": _texts(),
        }

    @property
    def payload(self) -> bytes:
        return raw_scores.pack([self.data], 32)[1]


def ribbons(
    key: str,
    data: HeadData,
    state: RibbonsState,
    *,
    title: str,
    glued: Sequence[int] = (),
    model: str = "",
    heads: Sequence[int] = (1,),
    every: str | None = None,
    on_stand: Callable[[RibbonsState], None],
) -> None:
    """Draw the sentence of an exact head with the ribbons of one word; `on_stand` receives the visitor's new state.

    `title` is the head's, with {layer} and {head} for others; no blank is before `glued` tokens. `heads` are those of
    each layer of `model`, and `every` the address of all of them, from which the browser takes them by itself.
    """
    document, n = name_tokens(data.tokens_q, None), len(data.tokens_q)
    figure = RibbonsFigure(data, state, title, glued)
    header = figure.header | {"doc": document, "model": model, "heads": list(heads), "every": every}

    def read_state(report: dict[str, Any]) -> RibbonsState | None:
        told = from_json(RibbonsState, report)
        layer, head = told.tile
        has_head = 0 <= layer < len(heads) and 0 <= head < heads[layer]
        if report["doc"] != document:  # made before another sentence had come: its words are not these, its handles are
            mask = "model" if told.edit.mask == "painted" else told.edit.mask
            edit = replace(told.edit, mask=mask, hidden=(), painted=b"")
            told = replace(told, word=state.word, axis=state.axis, pinned=state.pinned, edit=edit)
        words = (told.word, 0 if told.pinned is None else told.pinned)
        return told if has_head and all(0 <= word < n for word in words) else None

    mount_component("ribbons", key, "stood", header, read_state, on_stand, figure.payload)


def _texts() -> dict[str, str]:
    """Sentences of the picture; {names} are filled in by the browser."""
    return (
        {
            "label": _("The sentence: touch a word"),
            "write": _("✎ Type your own"),
            "new_word": _("new “{token}”"),
            "looked_word": _("who looks at “{token}”"),
            "not_yet": _("“{token}” has not read these yet: the mask"),
            "too_early": _("these came before “{token}”: the mask"),
            "becomes": _("“{token}” becomes mostly “{key}”: {share} of its new vector."),
            "keeps": _("“{token}” stays mostly itself: {share} of its new vector."),
            "mixture": _("“{token}” becomes a mixture: {parts}."),
            "part": _("{share} of “{key}”"),
            "alike": _("“{token}” takes the same from each of {count} words: {share}."),
            "alone": _("“{token}” can look at nothing but itself: it stays what it is."),
            "only": _("“{token}” can look at nothing but “{key}”: {share} of its new vector."),
            "empty": _("“{token}” may look at no word: nothing pours into it."),
            "one_more": _("“{other}” does the same: {share}."),
            "some_more": _("{count} other words do the same, “{other}” most of all: {share}."),
            "all_more": _("Every other word that can does the same, “{other}” most of all: {share}."),
            "some_up_to": _("{count} other words do the same, up to {share}."),
            "some_alike": _("{count} other words do the same: {share}."),
            "all_the_same": _("Every other word that can does the same: {share}."),
            "unseen": _("No word takes as much as 1% from “{token}”."),
            "looked": _("“{token}” goes mostly into “{query}”: {share} of that word’s new vector."),
            "looked_alike": _("“{token}” goes mostly into {count} words, equally: {share} of each one’s new vector."),
            "lookers": _("{count} of {total} other words look at “{token}” more than at any other."),
            "pair": _("“{query}” takes {share} from “{key}”."),
            "pair_from": _("Query times key is {score}; times {factor} it is {scaled}; softmax makes {share} of it."),
            "later": _("{share} of it comes from later words, which the model’s mask hides."),
            "strip": _(
                "{count} trained heads of {model}, layer by layer. The larger a dot, the more it tells of “{token}”."
            ),
            "head": _("layer {layer}, head {head}"),
            "heads": _("All heads: slide to choose one"),
            "scale": _("Scale of the scores"),
            "scale_is": _("scores times {factor}"),
            "all_alike": _("all alike"),
            "own_scale": _("1/√d"),
            "unscaled": _("no scaling"),
            "mask_on": _("mask: later words are hidden"),
            "mask_off": _("no mask: later words count"),
            "turn_k": _("Who looks at “{token}”?"),
            "turn_q": _("What does “{token}” look at?"),
            "unfold": _("Unfold the matrix ↓"),
            "fold": _("Fold the matrix ↑"),
            "columns": _("is looked at →"),
            "rows": _("looks ↓"),
        }
        | canvas_wording.guess_text()
        | canvas_wording.joining_text()
    )
