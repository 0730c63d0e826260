"""The controls above the walk: what a Config is made of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

import streamlit as st

from attnviz.core.message import Message, Problem
from attnviz.experiments.building import embeddings, inputs
from attnviz.models.loading import availabilities
from attnviz.ui.shared import choice, model_cache
from attnviz.words import _

SENTENCE, OTHER = "the cat sat down", "le chat noir"
LONGEST = 400  # characters
HEADS = 4


@dataclass(frozen=True)
class Asked:
    """The configuration, where its vectors are from, and what had to be cut."""

    config: inputs.Config
    vectors: embeddings.Rows | None
    notices: tuple[Message, ...]


def ask(edits: tuple[inputs.CellEdit, ...]) -> Asked:
    """Draw the controls and answer what was asked for."""
    chosen: dict[str, Any] = {"edits": edits}
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small", key="build-controls"):
        sentences = st.container(width=330)
        with st.container(width=126):
            kinds = {"self": _("self"), "cross": _("cross")}
            cross = choice(_("Attention"), kinds, "b_kind") == "cross"
        with st.container(width=96):
            chosen["n_heads"] = int(choice(_("Query heads"), _numbers(1, HEADS), "b_h", default="2", style="select"))
        with st.container(width=164):
            chosen["mask"] = _mask(cross)
        with st.container(width=150):
            chosen["position"] = _position(cross)
        with st.popover(_("More"), icon=":material/tune:"):
            chosen |= _sizes(chosen["n_heads"], chosen["mask"]) | _switches()
            source = choice(_("Word vectors"), _sources(), "b_vectors", style="select")
            chosen["seed"] = _slider(_("Random seed"), 0, 20, inputs.Config.seed, "b_seed")
    with sentences:
        text, other = _sentences(cross)
    if cross and not other.strip():
        raise Problem(
            "Cross-attention needs a second sentence, of 1 to {most} words, for keys and values", most=inputs.MOST_WORDS
        )
    return _asked(text, other if cross else "", source, chosen)


def _sentences(cross: bool) -> tuple[str, str]:
    text = st.text_input(
        _("Sentence (queries)") if cross else _("Sentence"),
        value=SENTENCE,
        key="b_text",
        bind="query-params",
        persist_state="session",
        max_chars=LONGEST,
        help=_("Up to {most} words: each becomes one row of X.").format(most=inputs.MOST_WORDS),
    )
    if not cross:
        return text or "", ""
    other = st.text_input(
        _("Sentence (keys and values)"),
        value=OTHER,
        key="b_other",
        bind="query-params",
        persist_state="session",
        max_chars=LONGEST,
    )
    return text or "", other or ""


def _mask(cross: bool) -> inputs.MaskName:
    masks = {"none": _("none"), "padding": _("last key is padding")}
    if not cross:
        masks = {"none": _("none"), "causal": _("causal"), "window": _("window"), "padding": _("last key is padding")}
    return cast(inputs.MaskName, choice(_("Mask"), masks, "b_mask", style="select"))


def _position(cross: bool) -> inputs.PositionChoice:
    places = {"none": _("none"), "sinusoidal": _("sinusoidal")}
    if not cross:
        places |= {"rope": "RoPE", "alibi": "ALiBi"}
    return cast(inputs.PositionChoice, choice(_("Position"), places, "b_pos", style="select"))


def _sizes(heads: int, mask: inputs.MaskName) -> dict[str, Any]:
    """Widths and counts that a first look does not need."""
    divisors = {str(n): str(n) for n in range(heads, 0, -1) if heads % n == 0}
    chosen: dict[str, Any] = {"n_kv_heads": int(choice(_("Key/value heads"), divisors, "b_g"))}
    chosen["d_model"] = _slider(_("Model width M"), 2, 8, 4, "b_m")
    chosen["d_head"] = width = _slider(_("Head width D"), 1, 6, 2, "b_d")
    value = choice(_("Value width Dv"), {"same": _("as D")} | _numbers(1, 6), "b_dv", style="select")
    chosen["d_value"] = width if value == "same" else int(value)
    chosen["batch"] = _slider(_("Sentences in the batch"), 1, 3, 1, "b_batch")
    if mask == "window":
        chosen["window"] = _slider(_("Window, in keys"), 1, 5, 2, "b_window")
    return chosen


def _switches() -> dict[str, Any]:
    """What is done besides, and whether dropout acts."""
    chosen: dict[str, Any] = {
        "packed": _toggle(_("One packed projection"), False, "b_packed"),
        "bias": _toggle(_("Bias in the projections"), False, "b_bias"),
        "qk_norm": _toggle(_("Normalise Q and K"), False, "b_qknorm"),
        "scaled": _toggle(_("Divide scores by √D"), True, "b_scale"),
    }
    dropout = st.slider(_("Dropout"), 0.0, 0.9, 0.0, 0.1, key="b_dropout", bind="query-params", persist_state="session")
    training = _toggle(_("Training mode"), False, "b_train", help=_("Dropout acts in training alone."))
    return chosen | {"dropout": round(dropout, 2), "training": training}


def _numbers(first: int, last: int) -> dict[str, str]:
    return {str(n): str(n) for n in range(first, last + 1)}


def _sources() -> dict[str, str]:
    """Random vectors, and the models on this machine whose embedding rows can be had."""
    found = {"random": _("random, by seed")}
    for state in availabilities():
        if state.on_this_machine and state.entry.kind != "pictures":
            found[state.entry.id] = _("rows of {name}").format(name=state.entry.name)
    return found


def _slider(label: str, low: int, high: int, value: int, key: str) -> int:
    return int(st.slider(label, low, high, value, key=key, bind="query-params", persist_state="session"))


def _toggle(label: str, value: bool, key: str, help: str | None = None) -> bool:
    return bool(st.toggle(label, value, key=key, bind="query-params", persist_state="session", help=help))


def _asked(text: str, other: str, source: str, chosen: dict[str, Any]) -> Asked:
    """The words cut to what fits, their vectors, and the configuration."""
    sides = [tuple(side[:LONGEST].split()) for side in (text, other)]
    notices = [
        Message("Of {n} words the first {most} are used.", {"n": len(side), "most": inputs.MOST_WORDS})
        for side in sides
        if len(side) > inputs.MOST_WORDS
    ]
    words, others = (side[: inputs.MOST_WORDS] for side in sides)
    vectors = None
    if source != "random" and words:
        vectors = embeddings.rows(model_cache.model(source), text[:LONGEST], other[:LONGEST], chosen["d_model"])
        words, others = vectors.words, vectors.other
    given = vectors.rows if vectors else ()
    return Asked(inputs.Config(words=words, other=others, rows=given, **chosen), vectors, tuple(notices))
