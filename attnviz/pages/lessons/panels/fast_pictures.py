"""Pictures of attention over tiles: the film, bytes, a roofline, rounding, a cache in blocks."""

import math

import streamlit as st

from attnviz.app import show
from attnviz.app.links import link_state
from attnviz.base import units
from attnviz.base.words import _
from attnviz.figures.byte_axes import over
from attnviz.figures.roofline import RoofPoints, under_roof
from attnviz.figures.theme import SERIES
from attnviz.models.architecture import gpus
from attnviz.pages.fast.figures import cost as cost_figures
from attnviz.pages.fast.figures import paged as paged_figures
from attnviz.pages.fast.maths import cost, numerics, paged, tiles
from attnviz.pages.fast.panels import numerics as rounding_panel
from attnviz.pages.fast.panels import tiles as tiles_panel
from attnviz.pages.lessons import choices
from attnviz.pages.lessons.maths import fast_facts
from attnviz.pages.lessons.maths.lesson_parts import PictureSettings, Subject


def film(_subject: Subject, set_to: PictureSettings, key: str) -> None:
    """The film, forward or backward."""
    made = tiles_panel.filmed(tiles.Config(backward=set_to.get("pass") == "backward"))
    asked = link_state.value(choices.PLACE)
    at = made.middle if asked is None else min(asked, len(made.tiles) - 1)
    tiles_panel.draw(made, key, at, lambda step: link_state.put(choices.PLACE, step))
