"""Why a folder of a stranger's making is no model here, in the same sentences whichever library would open it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from attnviz.base.message import Problem, Several
from attnviz.models import config_limits
from attnviz.models.catalogue import Entry, WeightsAre

MOST_LAYERS: Final = 1024  #: every layer is built, if only on the meta device, before its size is known
_NAMED: Final = 3  #: weights that a sentence names


def check_layers(config: Mapping[str, Any], entry: Entry) -> None:
    """Refuse a config that asks for more layers, blocks or experts than are built here."""
    if many := config_limits.too_many(config, MOST_LAYERS):
        raise Problem(
            "The config of {name} asks for {field}={count}; at most {most} are built here",
            name=entry.name,
            field=many[0][:80],
            count=str(many[1])[:40],
            most=MOST_LAYERS,
        )


def check_weights(missing: Sequence[str], wrong: Sequence[str], entry: Entry) -> None:
    """Refuse a model of which a part would stay as it was before it learned anything; both are names of weights."""
    if missing:
        raise Problem(
            "{count} weights that the config of {name} asks for are not in its files: {names}",
            count=len(missing),
            name=entry.name,
            names=first_few(missing),
        )
    if wrong:
        raise Problem(
            "{count} weights of {name} have another shape in the files than in the config: {names}",
            count=len(wrong),
            name=entry.name,
            names=first_few(wrong),
        )


def no_model(entry: Entry, error: Exception) -> Problem:
    """A config that its library refuses."""
    return Problem("The config of {name} describes no model: {reason}", name=entry.name, reason=first_line(error))


def first_few(names: Sequence[str]) -> Several:
    return Several((*names[:_NAMED], *(["…"] if len(names) > _NAMED else [])))


# What another library says went wrong, short enough for the end of a sentence.
def first_line(error: Exception) -> str:
    """The first line of an error, or its kind where it says nothing."""
    return (str(error).strip() or type(error).__name__).splitlines()[0][:200]


if TYPE_CHECKING:
    from torch import nn


# Whether weights were ever trained, seen from the weights alone.
#
# Every norm starts with all its factors alike, and the first step of training makes them differ. A model
# whose norms are all as they start has random weights, wherever its files came from.
def weights_are(model: nn.Module) -> WeightsAre:
    """ "unknown" where no norm has factors to look at."""
    factors = [
        weight
        for module in model.modules()
        if "norm" in type(module).__name__.lower()
        for name, weight in module.named_parameters(recurse=False)
        if name == "weight" and weight.numel() > 1
    ]
    if not factors:
        return "unknown"
    as_they_start = all(bool((each == each.flatten()[0]).all()) for each in factors)
    return "random" if as_they_start else "trained"
