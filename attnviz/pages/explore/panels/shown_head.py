"""The head on show: all that the panels below it need to know of it, its captions, and its live files."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial

from attnviz.app import head_drawing, show
from attnviz.app.cache import model_cache
from attnviz.app.head_drawing import head_title, telling_row, unit_of
from attnviz.base.head_edit import HeadEdit
from attnviz.base.raw_scores import RawHead
from attnviz.base.words import _, ended, language, say, sentences, speaking
from attnviz.canvas.head.pictures import opened_at
from attnviz.canvas.shared.kinds import Head, HeadScene, Pins
from attnviz.live import LiveView, page
from attnviz.pages.explore.panels import explorer_state
from attnviz.runs.head_matrix import Look, Matrix
from attnviz.runs.model_run import ModelRun, Stack
from attnviz.runs.raw_heads import raw_head, raw_heads


@dataclass(frozen=True)
class Shown:
    """The head on show and how it is shown: everything that the panels below need."""

    run: ModelRun
    stack: Stack
    layer: int
    head: int
    look: Look
    scene: HeadScene
    matrix: Matrix  #: as it is on show: under the edit where that is seen
    pins: Pins
    edit: HeadEdit  #: of mask and scale, and what of it is on show

    @cached_property
    def query(self) -> int:
        """The row that sentences and stages describe: the clicked cell's, else the last pinned, else `telling_row`."""
        if self.pins.cell is not None:
            row = self.pins.cell[0]
        else:
            pinned = [pin.index for pin in self.pins.tokens if pin.axis == "q"]
            row = pinned[-1] if pinned else telling_row(self.matrix)
        return min(row, len(self.matrix.rows) - 1)

    @property
    def query_at(self) -> int:
        """The position of that row among the model's tokens."""
        return self.matrix.row_at[self.query]


def drawn_head(shown: Shown) -> Head:
    """What is on show, as numbers: the head under the visitor's mask and scale, or the difference that they make."""
    title = head_title(shown.stack, shown.layer, shown.head)
    kind = "diff" if shown.edit.seen == "difference" else shown.look.values
    return Head(shown.matrix.values, title, shown.matrix.hidden, kind, shown.layer, shown.head)


def weights_of(run: ModelRun) -> str:
    """The caption of the picture, which says "trained" only of weights that were."""
    captions = {
        "random": _("Random weights of {model}, never trained. Rows look, columns are looked at."),
        "unknown": _("Weights of {model}. Rows look, columns are looked at."),
        "trained": _("Trained weights of {model}. Rows look, columns are looked at."),
    }
    return captions[run.weights_are]


def origin_of(run: ModelRun) -> str:
    """A sentence on where the model's weights come from and how to read the picture."""
    places = {
        "cache": _("the app's cache"),
        "wheel": _("an installed package"),
        "shipped": _("attnviz itself"),
        "folder": _("a folder of yours"),
        "hub cache": _("an earlier download"),
        "hub": _("the hub"),
    }
    place = places[run.origin] if run.origin else _("a run kept on this machine")
    template = _(
        "The weights come from {place}. Each row is a query, a token that looks; each column a key, a token that is "
        "looked at. A row's weights sum to 1."
    )
    rounded = _("Most of them were rounded to {bits} bits, so they differ a little from the ones that were published.")
    return sentences(
        template.format(place=place), "" if run.rounded_to is None else rounded.format(bits=run.rounded_to)
    )


def caption_of_shown(shown: Shown) -> str:
    """The caption of the head as it is on show, which says what is changed if that is seen."""
    if shown.edit.seen == "before":
        return caption_of(shown)
    changed = caption_of(shown, *head_drawing.in_words(shown.edit, shown.stack, shown.layer))
    minus = _("After the change minus before it.") if shown.edit.seen == "difference" else ""
    return sentences(minus, changed)


def caption_of(shown: Shown, mask: str | None = None, scale: str | None = None, more: str = "") -> str:
    """The caption of an exported picture: model, layer, head, mask, scale, how tokens are shown, and the link."""
    template = _("{model}, layer {layer}, head {head}: {what}. Mask: {mask}. Scores times {scale}.")
    made_by = {
        "random": _("Random weights, never trained; computed with attnviz."),
        "unknown": _("Computed with attnviz."),
        "trained": _("Trained weights, computed with attnviz."),
    }
    return sentences(
        template.format(
            model=shown.run.name,
            layer=shown.layer,
            head=shown.head,
            what=unit_of(shown.look),
            mask=mask or _("the model's own"),
            scale=scale or f"{shown.stack.layers[shown.layer].scale:.4g}",
        ),
        more,
        *(ended(say(note)) for note in shown.matrix.notes),
        made_by[shown.run.weights_are],
        explorer_state.link(),
    )


LARGEST = 24_000_000  # bytes of scores: a file that a browser still opens at once


def offers(shown: Shown, drawn: Head, note: str) -> list[show.LiveFile]:
    """What the export menu offers. All that a visitor sees now is taken down here: a download runs in no session.

    The tensors are looked up again then, so that an offer keeps none in memory.
    """
    stack, scene, pins, layer, head = shown.stack, shown.scene, shown.pins, shown.layer, shown.head
    counts = [each.n_heads for each in stack.layers]
    kv_counts = [each.n_kv_heads for each in stack.layers]
    tokens = (stack.queries.labels, None if stack.same_tokens else stack.keys.labels)
    title = _("{model} on “{text}”").format(model=shown.run.name, text=shown.run.request.text[:120])
    link, language_now = explorer_state.link() or None, language()
    request, name = shown.run.request, stack.id

    def made(heads: Callable[[Stack], Sequence[RawHead]], counts: Sequence[int], kv_counts: Sequence[int]) -> str:
        shown_heads = heads(model_cache.remembered(request).stack(name))
        live = LiveView(shown_heads, counts, kv_counts, *tokens, title=title, note=note, link=link)
        with speaking(language_now):
            return page(opened_at(live, drawn, scene, pins))

    this_head = partial(made, lambda stack: [raw_head(stack, layer, head)], [1], [1])
    files = [show.LiveFile(_("Live HTML: this head"), "-live", this_head)]
    if 2 * sum(counts) * len(stack.queries) * len(stack.keys) <= LARGEST and sum(counts) > 1:
        every_head = partial(made, raw_heads, counts, kv_counts)
        files.append(show.LiveFile(_("Live HTML: all heads"), "-all-live", every_head))
    return files
