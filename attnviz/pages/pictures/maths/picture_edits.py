"""What a visitor changes in a pass over a picture, as `intervene` takes it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from torch import Tensor

from attnviz.models.capture import Edit, LayerPlace, RecordedLayer
from attnviz.pages.pictures.maths.picture_record import HeadChange, PictureRun

Masks = Mapping[LayerPlace, Tensor]  #: what may be seen in a layer once patches are hidden


def hiding(layers: Iterable[RecordedLayer], masks: Masks) -> list[Edit]:
    """The masks of these layers."""
    return [
        Edit(layers=layer.index, tower=layer.tower or None, mask=masks[layer.place])
        for layer in layers
        if layer.place in masks
    ]


def of_heads(run: PictureRun, change: HeadChange, masks: Masks) -> list[Edit]:
    """Heads that hand on nothing, and the scale of one, under the masks that stand in their layers."""
    edits = []
    for name, layer, head in change.silenced:
        found = run.stack(name).layers[layer]
        edits.append(Edit(layers=found.index, heads=head, kind=found.kind, tower=found.tower or None, silence=True))
    if change.factor != 1.0:
        name, layer, head = change.head
        found = run.stack(name).layers[layer]
        edits.append(
            Edit(
                layers=found.index,
                heads=head,
                kind=found.kind,
                tower=found.tower or None,
                mask=masks.get(found.place, "model"),
                factor=change.factor,
            )
        )
    return edits
