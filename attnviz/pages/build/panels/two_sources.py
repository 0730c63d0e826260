"""What if there is a picture too: cross-attention over a text and a picture, whose results are summed."""

from dataclasses import replace
from typing import cast

import numpy as np
import streamlit as st

from attnviz.app import page_parts, show, widgets
from attnviz.app.text import escape_markdown, quote_token
from attnviz.base.rounding import Rounded
from attnviz.base.words import _, join_sentences
from attnviz.models.pictures import SAMPLES
from attnviz.pages.build import choices, figures
from attnviz.pages.build.maths import attention_by_hand, inputs, two_sources
from attnviz.pages.build.panels import config_form
from attnviz.pages.build.panels.formulas import K, Q, V


def panel(result: attention_by_hand.Result) -> None:
    """Draw where a word looks in a text and in a picture, and what either brings."""
    layer = two_sources.run(_config(result))
    template = (
        _(
            "Queries come from the sentence. Keys and values come twice, each time through matrices of their own: from "
            "{k} {k:word|words}, and from {p} tokens of a photograph, as CLIP ViT-L/14 hands on: {patches} patches, "
            "here of 4 counts of light each, and before them one token for the whole, here their mean. There are "
            "**two** softmaxes: a word gives 100% to the words and 100% to the picture, and what both bring is added "
            "before W_O."
        )
        if layer.config.photo
        else _(
            "Queries come from the sentence. Keys and values come twice, each time through matrices of their own: from "
            "{k} {k:word|words}, and from the {p} patches of a handwritten digit. There are **two** softmaxes: a word "
            "gives "
            "100% to the words and 100% to the patches, and what both bring is added before W_O."
        )
    )
    p = len(layer.patches)
    st.markdown(template.format(k=len(layer.config.text), p=p, patches=p - 1))
    st.latex(_formula(layer))
    queries = {str(i): f"{i + 1} {escape_markdown(word)}" for i, word in enumerate(layer.config.tokens)}
    i = int(widgets.select_one(choices.QUERY_WORD, _("Where does this word look?"), queries))
    _draw_weights(layer, i, config_form.current_view(result).head)
    page_parts.draw_columns(
        lambda: _draw_contributions(layer, i), lambda: _draw_norms(layer), widths=[1.1, 1], gap="large"
    )
    show.program(two_sources.program(layer), "b-two-sources")


def _config(result: attention_by_hand.Result) -> two_sources.Config:
    """Draw the controls and return the configuration. The layer has the sizes of the walk's layer."""
    base_config = result.config
    with st.container(horizontal=True, vertical_alignment="bottom"):
        text = base_config.kv_tokens
        if not base_config.cross:
            with st.container(width=230):
                typed = widgets.text_box(choices.KV_SENTENCE, _("Text (keys and values)"))
            text = tuple(typed[: choices.LONGEST].split()[: inputs.MOST_WORDS])
        pictures = {"digit": _("a digit: 16 tokens")} | {
            sample.id: _("{photo}: 257 tokens").format(photo=_(sample.name)) for sample in SAMPLES
        }
        picture = widgets.select_one(choices.PICTURE, _("Picture"), pictures, style="select", width=210)
        digit = choices.DIGIT.default
        if picture == "digit":
            digit = widgets.number_box(choices.DIGIT, _("Picture: the digit"), step=1, width=130)
        norms = widgets.select_one(
            choices.NORMS,
            _("What RMSNorm is applied to"),
            {"both": _("q and both k"), "text": _("not the picture’s k"), "none": _("nothing")},
        )
        factor = widgets.slider(choices.FACTOR, _("Factor of what the picture brings"), step=0.1, width=220)
    return two_sources.Config(
        base_config.tokens,
        text,
        base_config.layout,
        int(digit),
        "" if picture == "digit" else picture,
        cast(two_sources.Norms, norms),
        round(float(factor), 2),
        base_config.seed,
    )


def _formula(layer: two_sources.Result) -> str:
    config = layer.config

    def side(mark: str, normed: bool) -> str:
        q = rf"\hat{{{Q}}}" if config.norms != "none" else Q
        k = rf"\hat{{{K}}}" if normed else K
        return rf"\operatorname{{softmax}}\!\left(\tfrac{{{q}\,{k}_{{{mark}}}^\top}}{{\sqrt{{D}}}}\right){V}_{{{mark}}}"

    text, picture = side(r"\text{text}", config.norms != "none"), side(r"\text{picture}", config.norms == "both")
    times = "" if config.factor == 1 else rf"{config.factor:g}\,"
    return rf"\Big({text} + {times}{picture}\Big)\,W_O,\quad D={config.layout.qk_width}"


def _draw_weights(layer: two_sources.Result, i: int, head: int) -> None:
    config = layer.config
    text, picture = layer.on_text[:, i], layer.on_picture[:, i]
    before = 1 if config.photo else 0  # tokens before the patches
    side = round((len(layer.patches) - before) ** 0.5)
    word, patch = int(text[head].argmax()), int(picture[head, before:].argmax())
    names = [*config.text, *["the whole"] * before]
    names += [f"row {at // side + 1}, column {at % side + 1}" for at in range(side * side)]
    photograph = next((sample for sample in SAMPLES if sample.id == config.photo), None)
    origin = (
        _("A square’s area is the patch’s weight; the digit is a real one.")
        if photograph is None
        else _(
            "{whole} goes to the token for the whole. A square’s area is its patch’s weight beside the largest of the "
            "head. Photograph: {by}, {licence}."
        ).format(whole=f"{Rounded(picture[head, 0]):.1%}", by=photograph.by, licence=photograph.licence)
    )
    show.figure(
        show.chart_of(
            figures.weights_by_head, text, picture[:, before:], config.text, layer.pixels, bool(config.photo)
        ),
        name="text-and-picture",
        key="b_two",
        table={
            "head": np.repeat(np.arange(1, len(text) + 1), len(names)),
            "source": (["text"] * text.shape[1] + ["picture"] * picture.shape[1]) * len(text),
            "key_position": [*range(len(names))] * len(text),
            "key": names * len(text),
            "weight": np.concatenate([text, picture], 1).ravel(),
        },
        sentence=_(
            "In head {h}, {word} gives {share} to {key}, and {light} to the patch in row {row}, column {column}. "
            "Word vectors and weights: random (seed {seed}). {origin}"
        ).format(
            origin=origin,
            h=head + 1,
            word=quote_token(config.tokens[i]),
            share=f"{Rounded(text[head, word]):.0%}",
            key=quote_token(config.text[word]),
            light=f"{Rounded(picture[head, before + patch]):.0%}",
            row=patch // side + 1,
            column=patch % side + 1,
            seed=config.seed,
        ),
    )


def _draw_contributions(layer: two_sources.Result, i: int) -> None:
    lengths = [
        np.linalg.norm(contribution, axis=-1) for contribution in (layer.from_text, layer.from_picture, layer.output)
    ]
    names = [_("the text"), _("the picture"), _("together")]
    tokens = layer.config.tokens
    show.figure(
        show.chart_of(figures.lengths_by_source, list(zip(names, lengths, strict=True)), tokens),
        name="text-and-picture-brought",
        key="b_two_brought",
        table={"word": list(tokens)}
        | {n: m.tolist() for n, m in zip(("text", "picture", "sum"), lengths, strict=True)},
        sentence=_(
            "To {word} the text brings a vector of length {text}, the picture one of {picture}; added they are {sum} "
            "long, because they do not point the same way."
        ).format(
            word=quote_token(tokens[i]),
            text=f"{Rounded(lengths[0][i]):.2f}",
            picture=f"{Rounded(lengths[1][i]):.2f}",
            sum=f"{Rounded(lengths[2][i]):.2f}",
        ),
    )


def _draw_norms(layer: two_sources.Result) -> None:
    """Draw why the picture's keys need their own norm, and that both computations agree."""
    text, picture = layer.key_lengths
    template = {
        "both": _("Every key is {text} long, whichever source it comes from and whatever it is made of."),
        "text": _(
            "The picture’s keys are {picture} long on average, the text’s {text}: its scores are as much larger, and "
            "a word gives {top} to a single patch, on average, where with that norm it is {usual}."
        ),
        "none": _(
            "Nothing is normalised: the picture’s keys, made of counts up to 16, are {picture} long on average, the "
            "text’s {text}. A word gives {top} to a single patch, on average; with all norms {usual}."
        ),
    }[layer.config.norms]
    if layer.without_ink and layer.config.norms == "both":
        dark = (
            _("Only the keys of the patches without light are 0, with a norm or without: {count} of {of}.")
            if layer.config.photo
            else _("Only the keys of the patches without ink are 0, with a norm or without: {count} of {of}.")
        )
        template = join_sentences(template, dark)
    st.markdown("**" + _("Why a norm for the picture’s keys, too?") + "**")
    top, usual = (
        float(variant.on_picture.max(-1).mean())
        for variant in (layer, two_sources.run(replace(layer.config, norms="both")))
    )
    st.markdown(
        template.format(
            text=f"{Rounded(text):.1f}",
            picture=f"{Rounded(picture):.1f}",
            top=f"{Rounded(top):.0%}",
            usual=f"{Rounded(usual):.0%}",
            count=layer.without_ink,
            of=len(layer.patches),
        )
    )
    st.markdown(
        join_sentences(
            _("Leaving out that one norm changes the output by up to {moved}.").format(
                moved=f"{Rounded(layer.output_change):.2f}"
            ),
            _("The steps written out and torch’s fused kernels give the same output, to {difference}.").format(
                difference=f"{Rounded(layer.fused_difference):.1g}"
            ),
        )
    )
