"""The choice of an architecture: a published model, the visitor's own shape, or a pasted config.json."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from attnviz.app import widgets
from attnviz.app.cache.shared_results import shared
from attnviz.app.links.choices import Choice
from attnviz.app.text import escape_markdown
from attnviz.base.message import Problem
from attnviz.base.words import _, join_list
from attnviz.models.architecture import (
    Architecture,
    CustomShape,
    ParameterCounts,
    Preset,
    Scheme,
    all_presets,
    config_from_text,
    count_parameters,
    find_preset,
)
from attnviz.pages.sharing import choices


@dataclass(frozen=True)
class ChosenArchitecture:
    """An architecture, and how many parameters the whole model has."""

    arch: Architecture
    counts: ParameterCounts
    code: str  #: Python that makes the architecture
    preset: Preset | None = None


def draw_architecture_form() -> ChosenArchitecture:
    """Draw the controls and return the chosen architecture."""
    ways = {"preset": _("a published model"), "own": _("your own shape"), "config": _("a config.json")}
    which, what = st.columns([1.65, 2.2])
    with which:
        way = widgets.select_one(choices.WAY, _("What to count"), ways)
    if way == "preset":
        with what:
            return _draw_preset_form()
    return _draw_shape_inputs() if way == "own" else _draw_config_form()


def _draw_preset_form() -> ChosenArchitecture:
    name = widgets.select_one(
        choices.PRESET,
        _("Model"),
        {name: f"{name} · {preset.attention}" for name, preset in all_presets().items()},
        style="select",
    )
    preset = find_preset(name)
    return ChosenArchitecture(Architecture.preset(name), preset.counts, f"Architecture.preset({name!r})", preset)


def _draw_shape_inputs() -> ChosenArchitecture:
    scheme = widgets.select_one(
        choices.SCHEME, _("Scheme"), {"heads": _("heads: MHA, GQA or MQA"), "latent": _("latents: MLA")}
    )
    fields = {"n_layers": _("Layers"), "d_model": _("Model width M"), "n_heads": _("Query heads H")}
    if scheme == "heads":
        fields |= {"n_kv_heads": _("K/V heads G")}
    fields |= {"d_head": _("Head width D"), "d_ff": _("FFN width"), "vocab": _("Vocabulary")}
    if scheme == "latent":
        fields |= {"kv_rank": _("Latent width"), "d_rope": _("Rotary width")}
    sizes: dict[str, Any] = dict(
        zip(fields, draw_number_boxes({choices.SHAPE[name]: fields[name] for name in fields}), strict=True)
    )
    return _build_shape(CustomShape(**sizes, scheme=cast(Scheme, scheme)))


def draw_number_boxes(boxes: Mapping[Choice[int], str], columns: Sequence[DeltaGenerator] = ()) -> list[int]:
    """Draw boxes for whole numbers with their labels, each in a column of its own; the numbers."""
    numbers = []
    for column, (box, label) in zip(columns or st.columns(len(boxes)), boxes.items(), strict=True):
        with column:
            numbers.append(widgets.number_box(box, label, step=1))
    return numbers


def draw_agreement(text: str, good: bool) -> None:
    """Draw a sentence that says whether something fits or agrees."""
    (st.success if good else st.error)(text, icon=":material/check_circle:" if good else ":material/error:")


@shared
def _build_shape(shape: CustomShape) -> ChosenArchitecture:
    return ChosenArchitecture(shape.architecture(), shape.counts, f"{shape!r}.architecture()")


def _draw_config_form() -> ChosenArchitecture:
    chosen = _parse_config(widgets.text_box(choices.CONFIG, _("Contents of a config.json from the hub"), height=180))
    if chosen.arch.measured:
        st.info(
            _("There is no rule for {family} here, so its numbers were measured on the meta device.").format(
                family=escape_markdown(chosen.arch.model_type)
            )
        )
    if chosen.arch.unread:
        st.warning(
            _(
                "These fields are not understood and may change the numbers: {fields}. The view “Prove it” "
                "measures what they do."
            ).format(fields=join_list(f"`{escape_markdown(field)}`" for field in chosen.arch.unread))
        )
    return chosen


@shared
def _parse_config(text: str) -> ChosenArchitecture:
    arch = Architecture.from_config(config_from_text(text))
    try:
        counts = ParameterCounts(0, 0, 0) if arch.config is None else count_parameters(arch.config, arch.layers)
    except Exception as error:  # a model's own code can raise anything
        raise Problem(
            "The config can be read, but its model cannot be built: {reason}", reason=str(error).splitlines()[0]
        ) from error
    return ChosenArchitecture(arch, counts, f"Architecture.from_config(config_from_text({text!r}))")
