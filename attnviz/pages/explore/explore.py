"""The page Explore: a sentence, every head of a model, and what changes when a head is changed."""

from collections.abc import Mapping
from contextlib import suppress
from typing import Any, cast
from urllib.parse import urlencode

import streamlit as st

from attnviz.analysis.model_run import Request
from attnviz.app import long_run, page_parts, sentence_input, widgets
from attnviz.app.cache import model_cache
from attnviz.app.links import link_reading, link_state
from attnviz.app.links.choices import head_name
from attnviz.app.panel import fragment, show_notices, show_problems
from attnviz.base.message import Problem
from attnviz.base.words import _, translate_message
from attnviz.models import settings
from attnviz.models.catalogue import ModelKind
from attnviz.models.loading import EXAMPLES, Example, availabilities
from attnviz.models.tokens import Frame
from attnviz.pages.explore import choices
from attnviz.pages.explore.page_entry import PAGE
from attnviz.pages.explore.panels import head, long_text, next, overview, several_heads, stages, what_if, why_there
from attnviz.pages.explore.panels.shown_head import DisplayedHead
from attnviz.site import model_files

#: choices that the explorer without a server reads from a link, besides sentence, model and head; below, of canvases
CHANGES = (choices.MASK, choices.WINDOW, choices.SCALE, choices.FACTOR, choices.WHERE, choices.SEEN)
#: what the page's form asks for, above the heads
READ = (choices.SENTENCE, choices.SECOND, choices.MODEL, choices.FRAME)
CANVAS_CHOICES = (choices.PAINTED, choices.HIDDEN, choices.QUIET)


def page() -> None:
    """Draw the page."""
    page_parts.draw_heading(PAGE, about=False)
    with show_problems():
        request = draw_form()
        text = None if request is None else long_text.find_request(request.model, request.text)
        if text is not None:
            run = long_run.read_text(text)  # here, since a fragment's own button could not stop a run of the page
            if run is not None:
                long_text.draw(run.request)
        elif request is not None and not link_state.value(choices.DOCUMENT):
            draw_heads(request, [link_state.value(choice) for choice in READ])


def draw_form() -> Request | None:
    """Draw the form and return its request; None until the visitor allows the model to load.

    The sentence is the first thing on the page; other texts, and the model with how it reads, are doors beside it.
    """
    models = sorted(
        (model for model in availabilities() if model.entry.kind != "pictures"),
        key=lambda model: not model.on_this_machine,
    )
    line = st.container(key="sentence-line", horizontal=True, vertical_alignment="center")
    sentence = line.container(gap="small")
    doors = line.container(key="doors", horizontal=True, width="content", vertical_alignment="center", gap="small")
    document = link_state.value(choices.DOCUMENT)
    with doors:
        listed = (
            (
                example.text if len(example.text) <= 60 else example.text[:59] + "…",
                translate_message(example.shows),
                example,
            )
            for example in EXAMPLES
        )
        texts = page_parts.draw_examples("example", listed, take_example, _("Texts"))
        if texts.open:
            with texts:
                long_text.draw_choices()
        with page_parts.menu(_("Model"), "reading", type="tertiary"):
            name = sentence_input.ask_model(choices.MODEL, choices.HUB_ID, models, choices.OTHER_MODEL)
            with sentence:  # a question before the model is loaded is asked in the page
                may_load, kind, problem = _check_model({model.entry.id: model.entry.kind for model in models}, name)
            frame = "usual" if document else _ask_frame(kind)
    with sentence:
        if document:
            long_text.draw_title(document)
            text = second = ""
        else:
            text = widgets.text_box(
                choices.SENTENCE,
                overview.sentence_label(is_read=kind == "encoder-decoder"),
                height="content",
                label_visibility="collapsed",
            )
            second = _ask_second_text(kind)
    request = Request(name, text, second, frame)
    if problem is not None:
        raise problem
    return request if may_load else None


def _check_model(known: Mapping[str, ModelKind | None], name: str) -> tuple[bool, ModelKind | None, Problem | None]:
    """Return whether the model may be loaded, its kind, and the problem if it cannot be.

    The kind of a model outside the catalogue is known only after loading.
    """
    if name in known:
        return True, known[name], None
    if not name:
        return False, None, Problem("Name a model: owner/name as on the hub, or a folder on this machine")
    try:
        if not sentence_input.confirm_load(name):
            return False, None, None
        return True, model_cache.get_model(name).entry.kind, None
    except Problem as problem:
        return False, None, problem


def _ask_second_text(kind: str | None) -> str:
    """Draw the box of the second text: a decoder's, or the second sentence of a pair. A hidden box keeps its text."""
    # an encoder reads a pair where the visitor switched it on, or before that, where a second sentence was typed
    switched = link_state.value(choices.PAIR)
    if kind == "encoder-decoder":
        label, help_ = _("What the decoder has written so far"), _("Leave it empty to start with the first token only.")
    elif kind == "encoder" and (link_state.value(choices.SECOND) if switched is None else switched):
        label = _("Second sentence")
        help_ = _("The model reads both sentences as a pair; a line in the picture separates them.")
    else:
        return ""
    return widgets.text_box(choices.SECOND, label, help=help_)


def _ask_frame(kind: str | None) -> Frame:
    """Draw the choice of tokens around the sentence, and for encoders the switch for a second sentence."""
    frames: dict[str, str] = {"usual": _("as the model expects"), "none": _("nothing")}
    if kind not in ("encoder", "encoder-decoder"):
        frames |= {"start": _("a start token"), "chat": _("the chat template")}
    frame = widgets.select_one(
        choices.FRAME,
        _("Put around the sentence"),
        frames,
        style="radio",
        help=_(
            "Start, end and separator tokens, or a whole chat turn. A model that does not have the "
            "chosen one reads the sentence as it expects."
        ),
    )
    if kind == "encoder":
        widgets.toggle(choices.PAIR, _("Add a second sentence"), usual=bool(link_state.value(choices.SECOND)))
    return cast(Frame, frame)


def take_example(example: Example) -> None:
    """Choose an example: its sentence, and the model and head that show it best. A callback.

    Every model can read the first example. So it keeps the chosen model, and the head of any other model.
    """
    changes = {**choices.FRESH, choices.SENTENCE: example.text, choices.SECOND: example.second}
    if example is not EXAMPLES[0] or link_state.value(choices.MODEL) in (choices.MODEL.default, example.model):
        changes[choices.MODEL] = example.model
        if example.head is not None:
            changes[choices.AT] = example.head
    link_state.set_many(changes)


@fragment
def draw_heads(request: Request, read: list[Any]) -> None:
    """Draw the heads and all panels about them, of a sentence for which the form has read these values of `READ`.

    Choosing a head reruns only this; the model runs only for new input. Standouts come last: measuring all heads takes
    longer than drawing them.
    """
    if read != [link_state.value(choice) for choice in READ]:  # a panel's example, or a token appended to the sentence
        st.rerun(scope="app")
    with show_problems():
        run = model_cache.get_run(request)
        show_notices(run.notices)
        stack = overview.choose_stack(run)
        small, large = st.container(key="main-picture").columns([1, 2.6], gap="medium")
        with small, st.container(key="drawer", gap=None):  # presented, all heads open from the side
            tiles, selected = overview.draw(run, stack)
            if PAGE.about:
                st.caption(_(PAGE.about))
            standouts = st.container(gap=None)
            overview.offer_grid(run, stack, tiles)
        with large:
            displayed = head.draw(run, stack, *selected)
        with st.container(key="panels"):
            draw_panels(displayed)
        with standouts:
            overview.draw_standouts(run, stack)


def draw_panels(displayed: DisplayedHead) -> None:
    """Draw seven panels, closed at first, the head's program, and a link to the explorer without a server."""
    about = {
        "what_if": (":material/science:", what_if.panel),
        "why": (":material/alt_route:", why_there.panel),
        "place": (":material/account_tree:", stages.draw_model_strip),
        "stages": (":material/function:", stages.panel),
        "next": (":material/arrow_forward:", next.panel),
        "average": (":material/layers:", several_heads.draw_mean),
        "beside": (":material/splitscreen_right:", several_heads.draw_two_heads),
    }
    for name, (icon, panel) in about.items():
        box = widgets.expander(choices.OPEN[name], _(choices.PANELS[name]), icon=icon)
        if box.open:
            with box, show_problems():  # an error of a panel is shown in it
                panel(displayed)
    layer = displayed.stack.layers[displayed.layer]
    extras = any(extra is not None for extra in (layer.softcap, layer.sinks, layer.bias))
    if displayed.stack.same_tokens and layer.exact and not extras:
        what_if.draw_head_program(displayed)
    address = site_address(displayed)
    if address:
        st.caption(_("[Open without a server]({address})").format(address=address))


def site_address(displayed: DisplayedHead) -> str | None:
    """Address of this head in the explorer without a server; None where that cannot show it."""
    site, request = settings.current_settings().site, displayed.run.request
    short = len(displayed.stack.queries) <= model_files.LONGEST
    plain = not request.second and request.frame == choices.FRAME.default
    if site is None or request.model not in model_files.MODELS or not (plain and short):
        return None
    parameters = {"model": request.model, "text": request.text, "at": head_name((displayed.layer, displayed.head))}
    chosen = link_state.link_values("explore")
    parameters |= {choice.name: chosen[choice.name] for choice in CHANGES if choice.name in chosen}
    on_canvas = chosen.get("c", {})
    canvas_values = {choice.short: on_canvas[choice.short] for choice in CANVAS_CHOICES if choice.short in on_canvas}
    with suppress(Problem):  # what is painted may be too large for a link: the rest is carried all the same
        parameters |= {"c": link_reading.pack(canvas_values)} if canvas_values else {}
    return f"{site}#{urlencode(parameters)}"


if __name__ == "__main__":  # Streamlit runs this file
    page()
