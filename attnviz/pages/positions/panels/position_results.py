"""Results shared by all visitors: each configuration is computed once, and only so many are kept."""

from __future__ import annotations

import streamlit as st

from attnviz.app.code_snippet import snippet
from attnviz.base.words import _
from attnviz.models.catalogue import LoadedModel
from attnviz.pages.positions.maths import (
    longer_context,
    pair_rotation,
    position_kinds,
    position_scores,
    qk_norm_growth,
    shuffled_words,
    video_attention,
    video_axes,
)
from attnviz.pages.positions.maths import position_snippets as programs
from attnviz.runs import changed_rope
from attnviz.runs.model_run import ModelRun

shuffled = st.cache_resource(max_entries=64, show_spinner=False)(shuffled_words.run)
scores = st.cache_resource(max_entries=64, show_spinner=False)(position_scores.run)


@st.cache_resource(max_entries=32, show_spinner=False)
def trained_scores(config: position_scores.Config, version: str, _loaded: LoadedModel) -> position_scores.Result:
    """The same with the learned vectors of a model, in the version that was loaded."""
    return position_scores.run(config, position_kinds.table(_loaded))


rotation = st.cache_resource(max_entries=64, show_spinner=False)(pair_rotation.run)
longer = st.cache_resource(max_entries=64, show_spinner=False)(longer_context.run)
video = st.cache_resource(max_entries=64, show_spinner=False)(video_axes.run)
video_attention_of = st.cache_resource(max_entries=64, show_spinner=False)(video_attention.run)
norm = st.cache_resource(max_entries=32, show_spinner=False)(qk_norm_growth.run)


def kinds() -> dict[str, str]:
    return {
        "none": _("no positions"),
        "sinusoidal": _("sinusoidal"),
        "learned": _("learned"),
        "rope-half": _("RoPE, half-split"),
        "rope-interleaved": _("RoPE, interleaved"),
        "alibi": "ALiBi",
        "t5": _("T5 buckets"),
    }


def about(kind: str) -> str:
    """One sentence: where the kind comes in, and what is learned of it."""
    return {
        "sinusoidal": _("Sines and cosines of the position are added to each word’s vector. Nothing is learned."),
        "learned": _("A table with one vector for each position is learned and added to each word’s vector."),
        "rope-half": _(
            "Queries and keys are turned, pair by pair, by an angle that grows with the position; number i is paired "
            "with number i + D/2, as in Llama. Nothing is learned."
        ),
        "rope-interleaved": _(
            "Queries and keys are turned, pair by pair, by an angle that grows with the position; neighbours are "
            "pairs, as in the RoPE paper. Nothing is learned."
        ),
        "alibi": _(
            "A slope times the distance is taken off the scores; each head has its own slope. Nothing is learned."
        ),
        "t5": _(
            "Each head learns one number for each bucket of distances, and adds it to the scores. Here the table is "
            "random: no model learned it, so only its steps mean something, not their heights."
        ),
    }[kind]


def orders() -> dict[str, str]:
    return {"reverse": _("backwards"), "swap": _("first and last swapped"), "shuffle": _("shuffled")}


def methods() -> dict[str, str]:
    return {
        "none": _("none"),
        "linear": _("linear"),
        "ntk": "NTK",
        "dynamic": _("dynamic NTK"),
        "yarn": "YaRN",
        "llama3": "Llama 3",
    }


def splits() -> dict[str, str]:
    return {
        "rest": _("thirds, time takes the rest"),
        "quarter": _("1/4, 3/8, 3/8"),
        "thirds": _("width // 3 each"),
        "own": _("your own"),
        "flat": _("one number for each patch"),
    }


def axes() -> tuple[str, str, str]:
    return _("time"), _("height"), _("width")


def places() -> dict[str, str]:
    return {"head": _("this head"), "layer": _("its whole layer"), "all": _("every layer")}


def norms() -> dict[str, str]:
    return {"full": _("over all heads together"), "head": _("over each head")}


# The end of each section: its numbers again, as a program.
def program(code: str, section: str) -> None:
    """Draw the program of a section, and say which of its numbers it prints."""
    abouts = {
        "order": _("Paste this code into a notebook: it prints the largest change of an output."),
        "scores": _("Paste this code into a notebook: it prints mean scores by distance, and what a shift changes."),
        "longer": _("Paste this code into a notebook: it prints wavelengths and new angles under every scaling."),
        "video": _(
            "Paste this code into a notebook: it prints the split of the head, and scores of the query’s frame."
        ),
        "head": _(
            "Paste this code into a notebook: it prints how much weight moves, the row that changes most, and what "
            "comes next."
        ),
        "norm": _("Paste this code into a notebook: it prints the largest logits and the entropies at this factor."),
    }
    snippet(code, f"p-{section}", about=abouts.get(section))


def of_head(run: ModelRun, config: changed_rope.Config) -> None:
    """Draw the program of the section on a trained head, whose layers the model counts in its own way."""
    layer = run.stacks[0].layers[config.layer].index
    place = changed_rope.Config(layer, config.head, config.change, config.base, config.where)
    program(programs.head(run.request.model, run.request.text, place), "head")
