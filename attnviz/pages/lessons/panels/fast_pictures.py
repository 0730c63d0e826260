"""Pictures of attention over tiles: the film, bytes, a roofline, rounding, a cache in blocks."""

import streamlit as st

from attnviz.app import show
from attnviz.app.links import link_state
from attnviz.app.text import plain
from attnviz.base.words import _
from attnviz.figures.theme import Figure
from attnviz.models.architecture import gpus
from attnviz.pages.fast import figures as paged_figures
from attnviz.pages.fast.maths import cost, numerics, paged, tiles
from attnviz.pages.fast.panels import cost as cost_panel
from attnviz.pages.fast.panels import numerics as rounding_panel
from attnviz.pages.fast.panels import tiles as tiles_panel
from attnviz.pages.lessons import choices
from attnviz.pages.lessons.maths import fast_facts
from attnviz.pages.lessons.maths.lesson_parts import PictureSettings, Subject


def film(_subject: Subject, set_to: PictureSettings, key: str) -> None:
    """The film, forward or backward; at the tile in the middle, or at the one before it."""
    made = tiles_panel.filmed(tiles.Config(backward=set_to.get("pass") == "backward"))
    asked = link_state.value(choices.PLACE)
    at = made.middle - (set_to.get("at") == "before") if asked is None else min(asked, len(made.tiles) - 1)
    tiles_panel.draw(made, key, at, lambda step: link_state.put(choices.PLACE, step))


def _captioned(chart: Figure, key: str, words: str) -> None:
    show.chart(chart, key=key, words=words)
    st.caption(words)


def traffic(subject: Subject, _set_to: PictureSettings, key: str) -> None:
    """The bytes that both ways move."""
    words = _("One layer, {heads} heads, {tokens:,} tokens, 16 bits: {whole} with the whole matrix, {tiled} in tiles.")
    facts = fast_facts.too_large(subject).values
    _captioned(cost_panel.bars(cost.run(cost.Config())), key, words.format(**facts))


def roof(subject: Subject, _set_to: PictureSettings, key: str) -> None:
    """Both ways under the roof of a GPU."""
    words = _("By formula, one layer of {tokens:,} tokens on an {gpu}. Source: {source}.")
    gpu = gpus()[fast_facts.GPU]
    said = words.format(**fast_facts.saved(subject).values, source=plain(gpu.source))
    _captioned(cost_panel.roof(cost.run(cost.Config()), gpu), key, said)


def rounding(_subject: Subject, _set_to: PictureSettings, key: str) -> None:
    """How far each way is from float64, over the length of a row."""
    words = _("Random scores of standard deviation {size:g}, random values; each error is measured against float64.")
    made = rounding_panel.computed(numerics.Config())
    _captioned(rounding_panel.curves(made), key, words.format(size=made.config.size))


def blocks(subject: Subject, _set_to: PictureSettings, key: str) -> None:
    """A cache in blocks, as requests come and go."""
    made, facts = paged.run(paged.Config()), fast_facts.in_blocks(subject).values
    names = [_("request {n}").format(n=n + 1) for n in range(made.config.requests)]
    words = _("Each row is a block of {block} tokens, each column a step; a colour is a request that holds it.")
    chart = show.chart_of(paged_figures.memory, made.owner, made.holders, names, int(made.reserved.argmax()))
    _captioned(chart, key, words.format(**facts))
