"""The explorer's view as a live file: this head alone, or every head of the model."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from attnviz.experiments.explorer import ModelRun, Stack, WhatIf, raw_head, raw_heads
from attnviz.live import page
from attnviz.packing import RawHead
from attnviz.ui import canvas
from attnviz.ui.explorer import edit_state, explorer_state, overlay_state
from attnviz.ui.shared import model_cache, page_address, show
from attnviz.words import _, language, speaking

LARGEST = 24_000_000  # bytes of scores: a file that a browser still opens at once

MakeHeads = Callable[[Stack], Sequence[RawHead]]


def offers(
    run: ModelRun,
    stack: Stack,
    drawn: canvas.Head,
    axes: tuple[Sequence[str], Sequence[str] | None],
    options: canvas.Options,
    pins: canvas.Pins,
    change: WhatIf,
    note: str,
) -> list[show.LiveFile]:
    """What the export menu offers. All that a visitor sees now is taken down here: a download runs in no session.

    The tensors are looked up again then, so that an offer keeps none in memory.
    """
    layer, head = drawn.layer or 0, drawn.head or 0
    counts = [each.n_heads for each in stack.layers]
    kv_counts = [each.n_kv_heads for each in stack.layers]
    tokens = (stack.queries.labels, None if stack.same_tokens else stack.keys.labels)
    title = _("{model} on “{text}”").format(model=run.name, text=run.request.text[:120])
    edit, link, spoken = edit_state.on_canvas(change), explorer_state.link() or None, language()
    request, name, over = run.request, stack.id, overlay_state.chosen()

    def made(heads: MakeHeads, counts: Sequence[int], kv_counts: Sequence[int]) -> str:
        found = heads(model_cache.remembered(request).stack(name))
        with speaking(spoken):
            more = {"title": title, "note": note, "link": link, "over": over}
            return page(
                canvas.live_view(found, counts, kv_counts, tokens, drawn, axes, options, pins, edit, **more)  # type: ignore[arg-type]
            )

    def this_head() -> str:
        return made(lambda stack: [raw_head(stack, layer, head)], [1], [1])

    def every_head() -> str:
        return made(raw_heads, counts, kv_counts)

    found = [show.LiveFile(_("Live HTML: this head"), "-live", this_head)]
    if 2 * sum(counts) * len(stack.queries) * len(stack.keys) <= LARGEST and sum(counts) > 1:
        found.append(show.LiveFile(_("Live HTML: all heads"), "-all-live", every_head))
    return found


def alone(
    head: canvas.Head, tokens: Sequence[str], pins: canvas.Pins, edit: canvas.HeadEdit, title: str
) -> list[show.LiveFile]:
    """The same for a picture of one head that stands alone; nothing where it came without its scores."""
    if head.raw is None:
        return []
    raw, axes, spoken = head.raw.head, (tokens, None), language()
    link = page_address.public_address(explorer_state.LONGEST_LINK)

    def this_head() -> str:
        more = {"title": title, "note": "", "link": link}
        with speaking(spoken):
            return page(
                canvas.live_view([raw], [1], [1], axes, head, axes, canvas.Options(), pins, edit, **more)  # type: ignore[arg-type]
            )

    return [show.LiveFile(_("Live HTML: this head"), "-live", this_head)]
