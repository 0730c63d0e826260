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
    way = StripWay(_before(shown, parts), _blocks(parts, layers), inside, _after(parts), heads)
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


def _before(shown: Shown, parts: model_parts.ModelParts) -> list[StripPart]:
    count = len(shown.stack.queries)
    vectors = _("{tokens} × {width} after it").format(tokens=count, width=parts.width)
    return [
        StripPart(_("Tokens"), (_("{tokens} numbers").format(tokens=count),)),
        _part(_("Embedding"), parts.embedding, parts, vectors),
    ]


def _blocks(parts: model_parts.ModelParts, layers: int) -> StripPart:
    size = model_parts.PartSize(sum(block.parameters for block in parts.blocks))
    shared = (_("the same weights every time"),) if len(parts.blocks) < layers else ()
    title = _("{layers} blocks, one after the other").format(layers=layers)
    return StripPart(title, shared, size.parameters / parts.total, _said(size, parts))


def _block(block: model_parts.BlockParts, parts: model_parts.ModelParts) -> StripBlock:
    return StripBlock(
        _part(_("Attention"), block.attention, parts),
        _part(_("MLP"), block.mlp, parts),
        _part(_("Norms"), block.norms, parts, _("one before each of the two, or after it")),
    )


def _after(parts: model_parts.ModelParts) -> list[StripPart]:
    found = []
    if parts.after.parameters:
        found.append(_part(_("After the blocks"), parts.after, parts))
    if parts.elsewhere.parameters:
        found.append(_part(_("The other stack"), model_parts.PartSize(parts.elsewhere.parameters), parts))
    if not parts.predicts:
        return [*found, StripPart(_("Vectors of the tokens"), (_("this model writes nothing"),))]
    note = _("the embedding’s own matrix once more") if parts.tied else ""
    return [*found, _part(_("Next token"), parts.head, parts, note)]


def _part(title: str, size: model_parts.PartSize, parts: model_parts.ModelParts, note: str = "") -> StripPart:
    named = [_line(name, shape) for name, shape in size.matrices[:MOST_LINES]]
    if len(size.matrices) > MOST_LINES:
        named.append(_("and {count} more matrices").format(count=len(size.matrices) - MOST_LINES))
    lines = tuple(line for line in (*named, note) if line)
    return StripPart(title, lines, size.parameters / parts.total, _said(size, parts))


def _line(name: str, shape: tuple[int, ...]) -> str:
    return f"{name} {' × '.join(f'{n:,}' for n in shape)}".strip()


def _said(size: model_parts.PartSize, parts: model_parts.ModelParts) -> str:
    share = size.parameters / parts.total
    if not size.parameters:
        return _("no parameters of its own")
    if share < LEAST_SHARE:
        return _("{count} parameters, less than {share:.2%}").format(count=f"{size.parameters:,}", share=LEAST_SHARE)
    return _("{count} parameters, {share:.2%}").format(count=f"{size.parameters:,}", share=share)
