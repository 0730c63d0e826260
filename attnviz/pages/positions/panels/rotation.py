"""Section 3: texts longer than trained, under each scaling."""

import numpy as np
import streamlit as st

from attnviz.app import page_parts, show, widgets
from attnviz.app.cache.shared_results import shared
from attnviz.app.text import typeset_minus
from attnviz.base.rounding import Rounded
from attnviz.base.words import _, join_sentences, ngettext
from attnviz.pages.positions import choices
from attnviz.pages.positions.figures import rotation as figures
from attnviz.pages.positions.maths import rotation as experiment

LESS = 0.995  #: of an angle: what is nearer to it would read as 100%

compute_scalings = shared(experiment.compare_scalings)


# Texts longer than trained, and what each scaling does to the wavelengths.
FORMULAS = {
    "none": r"\theta_i = b^{-2i/D}",
    "linear": r"\theta_i' = \theta_i / s",
    "ntk": r"b' = b\, s^{D/(D-2)}",
    "dynamic": r"b' = b\left(s\tfrac{n}{L} - (s-1)\right)^{D/(D-2)}",
    "yarn": r"\theta_i' = \gamma_i\theta_i + (1-\gamma_i)\tfrac{\theta_i}{s}\\ q, k \times (0.1\ln s + 1)",
    "llama3": r"\theta_i' = \gamma_i\theta_i + (1-\gamma_i)\tfrac{\theta_i}{s}\\ "
    r"\gamma_i = \mathrm{clamp}\left(\tfrac{L\theta_i/2\pi - 1}{4 - 1}\right)",
}


def longer_panel() -> None:
    main_picture = page_parts.main_picture()
    config = _choose_config()
    result = compute_scalings(config)
    length = f"{config.length:,}".replace(",", "{,}")  # commas that take no space after them
    sizes = rf"s = {config.factor:g},\quad L = {length}"
    st.latex(rf"\begin{{gathered}}{sizes}\\ {FORMULAS[config.method]}\end{{gathered}}")
    st.markdown(f"**{_verdict(result)}**")
    with main_picture:
        _draw_wavelengths(result)
    _draw_distance(result)
    _draw_table(result)
    show.program(
        experiment.longer_program(config),
        "p-longer",
        about=_("Paste this code into a notebook: it prints wavelengths and new angles under every scaling."),
    )


def _method_names() -> dict[str, str]:
    return {
        "none": _("none"),
        "linear": _("linear"),
        "ntk": "NTK",
        "dynamic": _("dynamic NTK"),
        "yarn": "YaRN",
        "llama3": "Llama 3",
    }


def _choose_config() -> experiment.LongerConfig:
    method = widgets.select_one(choices.METHOD, _("Scaling"), _method_names())
    with st.container(horizontal=True, vertical_alignment="bottom"):
        length = widgets.number_box(choices.TRAINED, _("Trained on, positions"), step=1024, width=170)
        factor = widgets.number_box(choices.FACTOR, _("Times longer, s"), step=1.0, width=150)
        with page_parts.more_menu():
            width = widgets.number_box(choices.WIDTH, _("Width D"), step=2)
            base = widgets.number_box(choices.BASE, _("Base b"), step=1000.0)
        return experiment.LongerConfig(method=method, length=length, factor=factor, width=width, base=base)


def _verdict(result: experiment.LongerResult) -> str:
    config, scaled = result.config, result.methods[result.config.method]
    if scaled.n_new_angles:
        caption = ngettext(
            "With {n:,} positions {new} of {pairs} {pairs:pair|pairs} reaches angles that it never had in training: it "
            "had not completed a turn within {trained:,} positions.",
            "With {n:,} positions {new} of {pairs} pairs reach angles that they never had in training: they had not "
            "completed a turn within {trained:,} positions.",
            scaled.n_new_angles,
        )
    elif not scaled.n_slowed:
        caption = _(
            "Within {n:,} positions no pair reaches an angle that it did not have in training, and none turns more "
            "slowly."
        )
    else:
        caption = join_sentences(
            _(
                "Within {n:,} positions no pair reaches an angle that it did not have in training. The price: {slowed} "
                "of {pairs} {pairs:pair|pairs} {slowed:turns|turn} more slowly."
            ).format(n=config.target, slowed=scaled.n_slowed, pairs=len(scaled.wavelengths)),
            _("The angle between neighbours in the fastest pair is {neighbours:.0%} of what it was.")
            if scaled.neighbours < LESS
            else _("In the fastest pair the angle between neighbours stays what it was."),
        )
    return caption.format(
        n=config.target,
        new=scaled.n_new_angles,
        slowed=scaled.n_slowed,
        pairs=len(scaled.wavelengths),
        neighbours=scaled.neighbours,
        trained=config.length,
    )


def _draw_wavelengths(result: experiment.LongerResult) -> None:
    config, names = result.config, _method_names()
    lines = {names[method]: scaled.wavelengths for method, scaled in result.methods.items()}
    scaled, plain = result.methods[config.method], result.methods["none"].wavelengths
    show.figure(
        show.chart_of(figures.wavelengths, lines, names[config.method], config.length, config.target),
        name="wavelengths-scaled",
        key="p_longer_waves",
        table={"pair": np.arange(len(plain))} | {m: scaled.wavelengths for m, scaled in result.methods.items()},
        sentence=ngettext(
            "{method}: the fastest pair turns once in {first:.3g} positions (as trained: {first_was:.3g}), the "
            "slowest in {last:,.0f} ({last_was:,.0f}). {unfinished} pair takes more for its turn than the {trained:,} "
            "positions of training.",
            "{method}: the fastest pair turns once in {first:.3g} positions (as trained: {first_was:.3g}), the "
            "slowest in {last:,.0f} ({last_was:,.0f}). {unfinished} pairs take more for their turn than the "
            "{trained:,} positions of training.",
            scaled.n_unfinished,
        ).format(
            method=names[config.method],
            first=scaled.wavelengths[0],
            first_was=plain[0],
            last=scaled.wavelengths[-1],
            last_was=plain[-1],
            unfinished=scaled.n_unfinished,
            trained=config.length,
        ),
    )


def _draw_distance(result: experiment.LongerResult) -> None:
    config = result.config
    beyond = result.distance > config.length
    caption = _("Score q·k/√D of two vectors of ones over the distance, averaged over stretches.")
    if beyond.any():
        caption = join_sentences(
            caption,
            (
                _("Beyond the trained length (shaded) the largest is {plain:.3g}.")
                if config.method == "none"
                else _(
                    "Beyond the trained length (shaded) the largest is {plain:.3g} unscaled and {chosen:.3g} with the "
                    "scaling."
                )
            ).format(plain=result.plain[beyond].max(), chosen=result.chosen[beyond].max()),
        )
    scaled = result.methods[config.method]
    if scaled.length != 1:
        caption = join_sentences(
            caption,
            _("YaRN also makes q and k {length:.3f} times as long, so that scores grow by {grown:.2f}.").format(
                length=scaled.length, grown=scaled.length**2
            ),
        )
    name = _method_names()[config.method]
    show.figure(
        show.chart_of(figures.over_distance, result.distance, result.plain, result.chosen, name, config.length),
        name="longer-distance",
        key="p_longer_distance",
        table={"distance": result.distance, "as_trained": result.plain, config.method: result.chosen},
        sentence=typeset_minus(caption),
    )


def _draw_table(result: experiment.LongerResult) -> None:
    names = _method_names()
    rows = [
        {
            _("scaling"): names[method],
            _("pairs at new angles"): scaled.n_new_angles,
            _("pairs slowed"): scaled.n_slowed,
            _("fastest pair, turn in"): f"{Rounded(scaled.wavelengths[0]):.3g}",
            _("slowest pair, turn in"): f"{Rounded(scaled.wavelengths[-1]):,.0f}",
            _("q and k ×"): f"{Rounded(scaled.length):.3f}",
        }
        for method, scaled in result.methods.items()
    ]
    show.draw_table(show.to_columns(rows), "p_longer_table")
