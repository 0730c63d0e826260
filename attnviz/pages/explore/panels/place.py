"""Where the head on show sits: the way from tokens to the next one, each part with its shape and its share."""

from __future__ import annotations

from attnviz.app import show
from attnviz.app.cache import model_cache
from attnviz.base.words import _, clauses, sentences
from attnviz.canvas.model_strip import model_strip, strip_picture
from attnviz.figures.svg_strip import StripBlock, StripPart, StripWay
from attnviz.pages.explore.maths import model_parts
from attnviz.pages.explore.panels import explorer_state
from attnviz.pages.explore.panels.shown_head import Shown

MOST_LINES = 6  # matrices that are named one by one
LEAST_SHARE = 1e-4  # of all parameters: less would be said as 0.00%


def panel(shown: Shown) -> None:
    """Draw the strip; a press on a block or a head chooses it."""
    stack = shown.stack
    loaded = model_cache.model_of(shown.run)
    parts = model_cache.cached(shown.run, ("parts", stack.id), lambda: model_parts.run(loaded.model, stack))
    layers = len(stack.layers)
    inside = [_block(parts.blocks[parts.block_of(layer, layers)], parts) for layer in range(layers)]
    heads, at = [layer.n_heads for layer in stack.layers], (shown.layer, shown.head)
    count = len(stack.queries)
    vectors = _("{tokens} × {width} after it").format(tokens=count, width=parts.width)
    before = [
        StripPart(_("Tokens"), (_("{tokens} numbers").format(tokens=count),)),
        _part(_("Embedding"), parts.embedding, parts, vectors),
    ]
    way = StripWay(before, _blocks(parts, layers), inside, _after(parts), heads)
    model_strip("place", way, at=at, group="heads", on_pick=explorer_state.go_to)
    title = _("Where layer {layer}, head {head} of {model} sits").format(
        layer=shown.layer, head=shown.head, model=shown.run.name
    )
    show.under(
        lambda: strip_picture(way, at, title),
        name=f"place-{shown.run.request.model}-layer{shown.layer}-head{shown.head}",
        key="place-out",
        caption=sentences(_("Parameters counted in the model’s own weights."), explorer_state.link()),
        table=lambda: _table(way, shown.layer),
    )


def _table(way: StripWay, layer: int) -> dict[str, list[str]]:
    """Every part that is drawn, one in each row."""
    block = way.inside[layer]
    parts = [*way.before, way.blocks, block.attention, block.mlp, block.norms, *way.after]
    return {
        "part": [part.title for part in parts],
        "shapes": [clauses(part.lines) for part in parts],
        "parameters": [part.said for part in parts],
        "share": ["" if part.share is None else f"{part.share:.6g}" for part in parts],
    }


def _blocks(parts: model_parts.ModelParts, layers: int) -> StripPart:
    size = model_parts.PartSize(sum(block.parameters for block in parts.blocks))
    note = _("the same weights every time") if len(parts.blocks) < layers else ""
    return _part(_("{layers} blocks, one after the other").format(layers=layers), size, parts, note)


def _block(block: model_parts.BlockParts, parts: model_parts.ModelParts) -> StripBlock:
    return StripBlock(
        _part(_("Attention"), block.attention, parts),
        _part(_("MLP"), block.mlp, parts),
        _part(_("Norms"), block.norms, parts, _("one before each of the two, or after it")),
    )


def _after(parts: model_parts.ModelParts) -> list[StripPart]:
    after = []
    if parts.after.parameters:
        after.append(_part(_("After the blocks"), parts.after, parts))
    if parts.elsewhere.parameters:
        after.append(_part(_("The other stack"), model_parts.PartSize(parts.elsewhere.parameters), parts))
    if not parts.predicts:
        return [*after, StripPart(_("Vectors of the tokens"), (_("this model writes nothing"),))]
    note = _("the embedding’s own matrix once more") if parts.tied else ""
    return [*after, _part(_("Next token"), parts.head, parts, note)]


def _part(title: str, size: model_parts.PartSize, parts: model_parts.ModelParts, note: str = "") -> StripPart:
    """A part with its largest matrices, a note below them, and its share of all parameters in words."""
    lines = [f"{name} {' × '.join(f'{n:,}' for n in shape)}".strip() for name, shape in size.matrices[:MOST_LINES]]
    if len(size.matrices) > MOST_LINES:
        lines.append(_("and {count} more matrices").format(count=len(size.matrices) - MOST_LINES))
    share = size.parameters / parts.total
    if not size.parameters:
        text = _("no parameters of its own")
    elif share < LEAST_SHARE:
        text = _("{count} parameters, less than {share:.2%}")
    else:
        text = _("{count} parameters, {share:.2%}")
    text = text.format(count=f"{size.parameters:,}", share=max(share, LEAST_SHARE))
    return StripPart(title, tuple(line for line in (*lines, note) if line), share, text)
