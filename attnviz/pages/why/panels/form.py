"""Controls shared by all sections: the sentence, the token, and the token to compare it with."""

from collections.abc import Mapping
from dataclasses import dataclass

import streamlit as st

from attnviz.analysis.model_run import ModelRun
from attnviz.analysis.predictions import TokenChoice
from attnviz.app import page_parts, sentence_input, widgets
from attnviz.app.cache import model_cache
from attnviz.app.links import link_state
from attnviz.app.text import escape_markdown
from attnviz.base.rounding import Rounded
from attnviz.base.words import _, translate_message
from attnviz.engine import Rerun
from attnviz.models.catalogue import LoadedModel
from attnviz.pages.why import choices
from attnviz.pages.why.maths import parts

LONGEST_TAIL = 40  #: characters of the sentence in a title


@dataclass(frozen=True, eq=False)
class TokenRequest:
    """A model run on a sentence, and the decomposition of its answer."""

    run: ModelRun
    loaded: LoadedModel
    question: parts.TokenQuestion
    parts: parts.Parts

    @property
    def token(self) -> str:
        return escape_markdown(self.parts.targets[0].label)

    @property
    def versus(self) -> str | None:
        return escape_markdown(self.parts.targets[1].label) if len(self.parts.targets) > 1 else None


def draw_form() -> TokenRequest:
    """Draw the controls, and return the request that they describe."""
    run = sentence_input.sentence_run(choices.MODEL, choices.SENTENCE, kinds=("decoder", "encoder"))
    loaded = model_cache.model_of_run(run)
    offered = model_cache.cached_result(run, "why-offered", lambda: parts.likely_tokens(run, loaded))
    question = _draw_question(run.request.text, offered)
    return TokenRequest(run, loaded, question, model_cache.rerun_cached(run, Rerun(parts.run, (question,))))


def _draw_question(text: str, candidates: list[TokenChoice]) -> parts.TokenQuestion:
    row = st.columns([1, 1, 1.4], vertical_alignment="bottom")
    example = parts.find_contrast(text)
    options: dict[str, str] = {}
    for candidate in candidates:  # of two that differ by a space the likelier one
        options.setdefault(
            candidate.text.strip() or candidate.text, f"{candidate.label} {Rounded(candidate.probability):.1%}"
        )
    likeliest = example.token if example else next(iter(options))
    with row[0]:
        token = _select_token(choices.TOKEN, _("Why this token"), options, likeliest)
    second = example.versus if example and token == example.token else next(name for name in options if name != token)
    alone = link_state.value(choices.ALONE)
    with row[1]:
        versus = "" if alone else _select_token(choices.VERSUS, _("rather than"), options, second)
    with row[2], st.container(horizontal=True, vertical_alignment="center"):
        alone = widgets.toggle(choices.ALONE, _("Its logit alone"))
        page_parts.draw_examples(
            "why-example",
            ((f"{contrast.text} …", translate_message(contrast.explanation), contrast) for contrast in parts.CONTRASTS),
            _choose_example,
        )
    return parts.TokenQuestion(token, versus, alone)


def _select_token(choice: link_state.Choice[str], label: str, likeliest: Mapping[str, str], usual: str) -> str:
    """Draw a select box of the likeliest tokens that also takes any typed token."""
    more = [name for name in (usual, link_state.value(choice)) if name]
    options = dict(likeliest) | {name: name for name in more if name not in likeliest}
    return widgets.select_one(
        choice, label, options, usual=usual, style="select", accept_new_options=True, placeholder=_("token")
    )


def _choose_example(example: parts.Contrast) -> None:
    """Choose an example. A callback."""
    nothing = {choice: choice.default for choice in (choices.TOKEN, choices.VERSUS, choices.AT, choices.SECOND_PROMPT)}
    link_state.set_many({choices.SENTENCE: example.text, **nothing})


def sentence_tail(request: TokenRequest) -> str:
    """The end of the sentence, up to where the token stands."""
    text = "".join(span.text for span in request.run.source.spans[: request.parts.position + 1]).strip()
    return text if len(text) <= LONGEST_TAIL else "…" + text[-LONGEST_TAIL:]


def sentence_title(request: TokenRequest) -> str:
    """The end of the sentence, and what is written after it."""
    tail = sentence_tail(request)
    token, *versus = (target.label.strip() for target in request.parts.targets)
    if not versus:
        return _("“{text}” → {token}").format(text=tail, token=token)
    return _("“{text}” → {token}, not {versus}").format(text=tail, token=token, versus=versus[0])
