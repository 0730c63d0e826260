"""The usual edits, each with a name of its own; what they make is an `Edit`."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, Literal

from torch import Tensor

from attnviz.core.attention import Scale
from attnviz.models.capture.edit import Edit, LayerChoice, NewOutput, NumberChoice


def silence(layer: LayerChoice = "all", head: NumberChoice = "all", at: NumberChoice = "all", **where: Any) -> Edit:
    """An edit in which these heads hand on 0. `where` is any of `stack`, `kind`, `tower` and `run` of an `Edit`."""
    return _made(layer, head, at, where, silence=True)


def patch(
    layer: LayerChoice = "all",
    head: NumberChoice = "all",
    *,
    source: NewOutput,
    at: NumberChoice = "all",
    **where: Any,
) -> Edit:
    """An edit in which these heads hand on what they did in another pass: `source`, its trace.

    Or the means of `mean_outputs`, a tensor, or a function of the heads' own outputs. `where` as in `silence`.
    """
    return _made(layer, head, at, where, output=source)


def rescale(
    layer: LayerChoice = "all",
    head: NumberChoice = "all",
    *,
    factor: float | None = None,
    scale: Scale | Literal["model"] = "model",
    at: NumberChoice = "all",
    **where: Any,
) -> Edit:
    """An edit in which the scores of these heads are multiplied by `factor` more, or by `scale` in place of the model's
    own number. `where` as in `silence`.
    """
    return _made(layer, head, at, where, factor=factor, scale=scale)


def remask(
    layer: LayerChoice = "all",
    head: NumberChoice = "all",
    *,
    mask: Tensor | Literal["model"] | None = "model",
    block: Collection[tuple[int, int]] = (),
    at: NumberChoice = "all",
    **where: Any,
) -> Edit:
    """An edit in which these heads see what `mask` lets them see (True: may be seen; None: everything but padding), and
    not the (query, key) positions of `block`. `where` as in `silence`.
    """
    return _made(layer, head, at, where, mask=mask, block=block)


def _made(layer: LayerChoice, head: NumberChoice, at: NumberChoice, where: dict[str, Any], **change: Any) -> Edit:
    edit = Edit(layer, head, at=at, **where, **change)
    edit.must_name_a_change()
    return edit
