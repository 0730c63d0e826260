"""The controls above the walk, and the Config that they describe."""

from typing import Any

import streamlit as st

from attnviz.app import widgets
from attnviz.app.cache import model_cache
from attnviz.app.links import link_state
from attnviz.app.page_parts import more_menu
from attnviz.base.message import Problem
from attnviz.base.words import _
from attnviz.canvas import tensor_board as canvas
from attnviz.models.loading import availabilities
from attnviz.pages.build import choices
from attnviz.pages.build.maths import attention_by_hand, inputs
from attnviz.pages.build.maths.boards import View

COUNTED = "counted"  #: the id of word vectors that count on


def draw_form() -> tuple[inputs.Config, inputs.Rows | None]:
    """Draw the controls; return the configuration and the trained embedding rows. None: vectors are not trained."""
    chosen: dict[str, Any] = {"edits": link_state.value(choices.EDITS)}
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small", key="build-controls"):
        sentences = st.container(key="build-sentences")  # takes what the others leave
        kinds, counts = {"self": _("self"), "cross": _("cross")}, {n: n for n in choices.HEADS.ids}
        cross = widgets.select_one(choices.KIND, _("Attention"), kinds, width="content") == "cross"
        chosen["n_heads"] = int(widgets.select_one(choices.HEADS, _("Query heads"), counts, style="select", width=96))
        chosen["mask"] = _mask(cross)
        chosen["position"] = _position(cross)
        with more_menu():
            chosen |= _sizes(chosen["n_heads"], chosen["mask"])
            sources = {"random": _("random, by seed"), COUNTED: _("0.1, 0.2, 0.3, 0.4 … (four words: 4 × 3)")} | {
                state.entry.id: _("rows of {name}").format(name=state.name)
                for state in availabilities()
                if state.on_this_machine and state.entry.kind != "pictures"
            }
            source = widgets.select_one(choices.VECTORS, _("Word vectors"), sources, usual="random", style="select")
            chosen["seed"] = widgets.slider(choices.SEED, _("Random seed"))
    with sentences:
        text = widgets.text_box(
            choices.SENTENCE,
            _("Sentence (queries)") if cross else _("Sentence"),
            help=_("Up to {most} words: each becomes one row of X.").format(most=inputs.MOST_WORDS),
        )
        kv_text = widgets.text_box(choices.KV_SENTENCE, _("Sentence (keys and values)")) if cross else ""
    if cross and not kv_text.strip():
        raise Problem(
            "Cross-attention needs a second sentence, of 1 to {most} words, for keys and values", most=inputs.MOST_WORDS
        )
    return _make_config(text, kv_text, source, chosen)


def _mask(cross: bool) -> str:
    between = {} if cross else {"causal": _("causal"), "window": _("window")}
    masks = {"none": _("none"), **between, "padding": _("last key is padding")}
    return widgets.select_one(choices.MASK, _("Mask"), masks, style="select", width=164)


def _position(cross: bool) -> str:
    names = {"none": _("none"), "sinusoidal": _("sinusoidal")} | ({} if cross else {"rope": "RoPE", "alibi": "ALiBi"})
    return widgets.select_one(choices.POSITION, _("Position"), names, style="select", width=150)


def _sizes(heads: int, mask: str) -> dict[str, Any]:
    """Draw the widths, counts and switches that a first look does not need, and return them as fields of Config."""
    divisors = {str(n): str(n) for n in range(heads, 0, -1) if heads % n == 0}
    chosen: dict[str, Any] = {
        "n_kv_heads": int(widgets.select_one(choices.KV_HEADS, _("Key/value heads"), divisors)),
        "d_model": inputs.COUNTED_WIDTH
        if link_state.value(choices.VECTORS) == COUNTED
        else widgets.slider(choices.D_MODEL, _("Model width M")),
        "d_head": widgets.slider(choices.D_HEAD, _("Head width D")),
    }
    value = widgets.select_one(
        choices.D_VALUE, _("Value width Dv"), {n: n for n in choices.D_VALUE.ids} | {"same": _("as D")}, style="select"
    )
    chosen["d_value"] = chosen["d_head"] if value == "same" else int(value)
    widenings = {times: f"{times} M" for times in choices.WIDENING.ids}
    chosen["widening"] = int(widgets.select_one(choices.WIDENING, _("FFN width F"), widenings))
    chosen["batch"] = widgets.slider(choices.BATCH, _("Sentences in the batch"))
    if mask == "window":
        chosen["window"] = widgets.slider(choices.WINDOW, _("Window, in keys"))
    return chosen | {
        "packed": widgets.toggle(choices.PACKED, _("One packed projection")),
        "bias": widgets.toggle(choices.BIAS, _("Bias in the projections")),
        "qk_norm": widgets.toggle(choices.QK_NORM, _("Normalise Q and K")),
        "scaled": widgets.toggle(choices.SCALED, _("Divide scores by √D")),
        "dropout": round(widgets.slider(choices.DROPOUT, _("Dropout"), step=0.1), 2),
        "training": widgets.toggle(choices.TRAINING, _("Training mode"), help=_("Dropout acts only in training mode.")),
    }


def _make_config(
    text: str, kv_text: str, source: str, chosen: dict[str, Any]
) -> tuple[inputs.Config, inputs.Rows | None]:
    """The configuration for the typed sentences: words beyond the limit are cut, and each word gets its vector."""
    text, kv_text = text[: choices.LONGEST], kv_text[: choices.LONGEST]
    sides = [tuple(side.split()) for side in (text, kv_text)]
    for side in sides:
        if len(side) > inputs.MOST_WORDS:
            st.info(_("Of {n} words only the first {most} are used.").format(n=len(side), most=inputs.MOST_WORDS))
    q_tokens, kv_tokens = (side[: inputs.MOST_WORDS] for side in sides)
    vectors = None
    if source == COUNTED:
        chosen["rows"] = inputs.counting_rows((*q_tokens, *kv_tokens))
    elif source != "random" and q_tokens:
        vectors = inputs.embedding_rows(model_cache.get_model(source), text, kv_text, chosen["d_model"])
        chosen["rows"], q_tokens, kv_tokens = vectors.rows, vectors.tokens, vectors.kv_tokens
    return inputs.Config(tokens=q_tokens, kv_tokens=kv_tokens, **chosen), vectors


# The visitor's place on the walk: the step, the chosen number, the head and the sentence on show.


def displayed_cell() -> canvas.Pick:
    """The chosen cell from the link. It may lie outside the displayed board."""
    return canvas.Pick(*(link_state.value(choices.AT[name]) for name in ("part", "row", "col")))


def current_view(result: attention_by_hand.Result) -> View:
    """The sentence of the batch and the query head on show."""
    sentence, head = link_state.value(choices.AT["sentence"]), link_state.value(choices.AT["head"])
    return View(result, min(sentence, result.config.batch - 1), min(head, result.config.n_heads - 1))


def set_choice(**changes: Any) -> None:
    """Choose another number, head or sentence. Call it from callbacks."""
    link_state.set_many({choices.AT[name]: value for name, value in changes.items()})


def current_step(ids: tuple[str, ...]) -> str:
    """The id of the displayed step: the chosen one. Without one, the first step, or in a link the scores.

    The scores also replace a step that this configuration lacks.
    """
    requested = link_state.value(choices.STEP) or link_state.set_default(choices.STEP)
    if requested in ids:
        return requested
    link_state.refuse(choices.STEP, requested, choices.STEP_OF_LINKS)
    return choices.STEP_OF_LINKS


def go_to_step(step: str, part: int = 0) -> None:
    """Go to another step, at one of its matrices. Call it from callbacks."""
    link_state.set_many({choices.STEP: step, choices.AT["part"]: part})
