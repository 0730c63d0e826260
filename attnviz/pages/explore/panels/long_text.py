"""A long text in place of a sentence: where it comes from, the picture, and a question about it."""

from functools import partial

import streamlit as st

from attnviz.analysis import long_text
from attnviz.analysis.ask_text import Answer, ask_text
from attnviz.analysis.model_run import ModelRun, Request, Stack, StackId
from attnviz.app import show, widgets
from attnviz.app.cache import model_cache
from attnviz.app.exports import LiveFile
from attnviz.app.links import link_state
from attnviz.app.panel import fragment, show_notices, show_problem, show_problems
from attnviz.base.message import Problem
from attnviz.base.packed import pack_blob
from attnviz.base.words import _, selected_language, use_language
from attnviz.canvas.head.ahead import offer_parts
from attnviz.canvas.long_text import long_text as draw_component
from attnviz.engine import Rerun
from attnviz.live.long_text_file import PARTS, AnswerLine, LongText, Span, TextFigure, TextState
from attnviz.live.scene_figure import SceneFigure
from attnviz.models.capture.bands import is_plain_causal
from attnviz.models.tokens.units import UnitName, find_unit_starts
from attnviz.pages.explore import choices
from attnviz.pages.explore.maths import long_texts
from attnviz.pages.explore.panels import shown_head

LONG = 4_096  #: characters from which on a typed sentence is a long text
_MENU = "examples"
_OWN, _REFUSED = "_long_text", "_long_text_refused"
COUNTS = {"overview": 2, "tile": 5, "q": 2, "k": 2, "row": 4, "answer": 4}  #: numbers that name one of a head's


def draw_choices() -> None:
    """Draw what opens a long text, below the examples."""
    st.caption(_("A chapter or a chat in place of a sentence: as long as the model reads."))
    for name, label in titles().items():
        if name != "own":
            st.button(label, key=f"long-{name}", on_click=choose, args=(name,), width="stretch")
    if (refused := st.session_state.pop(_REFUSED, None)) is not None:
        show_problem(refused)
    st.file_uploader(
        _("Open a file: text, or a chat as JSON"),
        type=["txt", "md", "json"],
        key="long-file",
        on_change=_open_own,
        args=("long-file",),
    )
    st.text_area(_("or paste it here"), key="long-pasted", max_chars=None)
    # not disabled while the box is empty: the server hears of a pasted text only with this button
    st.button(_("Read it"), key="long-read", on_click=_open_own, args=("long-pasted",))


def titles() -> dict[str, str]:
    """What the texts are called."""
    return {
        "alice": _("Alice in Wonderland, chapters I and II"),
        "boat": _("A chat of 60 turns about an old boat"),
        "own": _("Your text"),
    }


def draw_title(name: str) -> None:
    """Draw what the open text is called, and the way back."""
    with st.container(horizontal=True, vertical_alignment="center"):
        st.button(_("Back to a sentence"), icon=":material/arrow_back:", key="long-back", on_click=choose, args=("",))
        st.markdown(f"**{titles()[name]}**", width="content")


def choose(name: str) -> None:
    """A callback: open a text, or with none the sentence again; close the menu, which would cover the picture."""
    st.session_state[_MENU] = False
    question = {choices.QUESTION: "", choices.TEXT_UNIT: "turn" if name == "boat" else "sentence"}
    link_state.set_many({choices.DOCUMENT: name, **question})
    st.session_state.pop(_STATE, None)


def _open_own(key: str) -> None:
    """Open the file or the pasted text of this widget; the menu says why where it cannot be. A callback."""
    given = st.session_state.get(key)
    if given is None:  # the file was taken out of the box
        return
    try:
        read = long_texts.parse_text(given) if isinstance(given, str) else long_texts.read_file(given.getvalue())
    except Problem as problem:
        st.session_state[_REFUSED] = problem
        return
    st.session_state[_OWN] = read
    choose("own")


def find_request(model: str, sentence: str) -> Request | None:
    """The request of the text that is open, or of a sentence that is a long one; None for any other."""
    name = link_state.value(choices.DOCUMENT)
    if not name:
        return Request(model, sentence) if len(sentence) > LONG else None
    if name == "own":
        text, cut = st.session_state.get(_OWN, ("", None))
        if not text:
            st.info(_("The text of this link was not sent along: open the file here."))
            return None
        show_notices([cut] if cut else [])
    else:
        text = long_texts.shipped_text(name)
    if isinstance(text, str):
        return Request(model, text)
    rendered = long_texts.render_chat(text, model_cache.get_model(model).tokenizer)
    rendered, cut = long_texts.cut_text(rendered)
    show_notices([cut] if cut else [])
    return Request(model, rendered, frame="none")


_STATE = "_long_text_state"


@fragment
def draw(request: Request) -> None:
    """Draw the picture of a long text that was read, and the question about it."""
    with show_problems():
        try:
            run = model_cache.run_in_memory(request)
        except LookupError:  # longer texts have taken its place: the page reads it again
            st.rerun()
        show_notices(run.notices)
        stack = run.stacks[0]
        picture = st.container(key="main-picture")
        question = _draw_question() if stack.id == "decoder" else ""
        state = _current_state(run)
        answers = _answers(run, question, state.hidden)
        best = answers[0].retrieval if answers else ()
        lines = [
            AnswerLine(
                [unit.label for unit in answer.words],
                [(unit.start, unit.stop) for unit in answer.words],
                _offer(run.request, stack.id, (question, answer_hidden)),
                answer_hidden,
            )
            for answer, answer_hidden in zip(answers, (None, state.hidden), strict=False)
        ]
        labels = [
            span.label if span.special else text for span, text in zip(run.source.spans, _texts(run), strict=True)
        ]
        text = LongText(labels, _units(run), stack.grid, state, _offer(run.request, stack.id), lines, best)
        with picture:
            draw_component("long", text, _store_state)
            _draw_footer(run.request, stack, text)


def _draw_footer(request: Request, stack: Stack, text: LongText) -> None:
    """Draw the menu that saves what is on show, and the text with this head as a file that stays alive."""
    layer, head = text.state.tile
    title = _("Layer {layer}, head {head}").format(layer=layer, head=head)
    language, name = selected_language(), link_state.value(choices.DOCUMENT)

    def figure() -> SceneFigure:
        found = _overview(model_cache.run_in_memory(request), stack.id, layer, head)
        return SceneFigure((TextFigure(text, found.step, found.codes, title),), title)

    def page() -> str:
        with use_language(language):
            return text.page(long_text.file_parts(stack.layers, [text.state.tile]), titles().get(name, ""))

    file = f"attention-{request.model}-layer{layer}-head{head}"
    live = [LiveFile(_("Live HTML"), "-live", page)] if is_plain_causal(stack.layers[layer]) else []
    with show.caption_line("long-out"):
        show.save_menu(figure, file, "long-out", None, title, live=live, canvases=["long"])


def _texts(run: ModelRun) -> list[str]:
    """The piece of the text of each token, blanks included."""
    texts = run.source.texts
    return [texts[span.segment][span.start : span.end] for span in run.source.spans]


def _units(run: ModelRun) -> dict[str, list[int]]:
    """First tokens of the words, sentences, paragraphs and, where it is a chat, turns of the text."""
    tokenizer = model_cache.model_of_run(run).tokenizer
    return model_cache.cached_result(run, "units", lambda: find_unit_starts(tokenizer, run.source.ids))


def _current_state(run: ModelRun) -> TextState:
    """Where a hand left the picture, or the link's head and units."""
    stack, unit = run.stacks[0], link_state.value(choices.TEXT_UNIT)
    kept: TextState = st.session_state.get(_STATE, TextState((0, 0), unit))
    last = len(run.source)
    spans = {"pinned": kept.pinned, "hidden": kept.hidden}
    fitting = {name: span if span and span[1] <= last else None for name, span in spans.items()}
    units: UnitName = unit if unit in _units(run) else "sentence"  # type: ignore[assignment]
    tile = shown_head.current_head(stack)
    return TextState(tile, units, **fitting, edit=shown_head.current_edit(stack, tile[0]))


def _store_state(state: TextState) -> None:
    """Keep where a hand left the picture; head and units go into the link. A callback."""
    st.session_state[_STATE] = state
    link_state.set_many({choices.AT: state.tile, choices.TEXT_UNIT: state.unit})
    shown_head.store_edit(state.edit)


def _draw_question() -> str:
    """Draw the field of the question and return it."""
    return widgets.text_box(
        choices.QUESTION,
        _("Ask the text"),
        placeholder=_("The name of Alice’s cat is"),
        help=_(
            "It is put after the text, and the model goes on with what is most likely. A small model is often wrong."
        ),
    ).strip()


def _answers(run: ModelRun, question: str, hidden: Span | None) -> list[Answer]:
    """The answer to the question, and the one without the hidden part if one is."""
    return [
        model_cache.rerun_cached(run, Rerun(ask_text, (question, without)))
        for without in dict.fromkeys((None, hidden))
        if question
    ]


def _offer(request: Request, stack_id: StackId, asked: tuple[str, Span | None] | None = None) -> str:
    """Address of the parts of a text, or of what the tokens of an answer read."""
    return offer_parts((request, stack_id, asked), partial(_make_part, request, stack_id, asked))


def _overview(run: ModelRun, stack_id: StackId, index: int, head: int) -> long_text.HeadOverview:
    """A head's overview, made once."""
    layer = run.stack(stack_id).layers[index]
    name = (stack_id, "overview", index, head)
    found: long_text.HeadOverview = model_cache.cached_result(run, name, lambda: long_text.make_overview(layer, head))
    return found


def _make_part(
    request: Request, stack_id: StackId, asked: tuple[str, Span | None] | None, part: int, *numbers: int
) -> bytes:
    """One part of a text that is in memory; LookupError where there is none. Computes nothing with the model."""
    layers = (run := model_cache.run_in_memory(request)).stack(stack_id).layers
    name = PARTS[part] if part < len(PARTS) else ""
    if name == "wall" and numbers in ((1,), (4,)):
        return model_cache.cached_result(
            run, (stack_id, name, numbers), lambda: long_text.sample_heads(layers, *numbers).tobytes()
        )
    if len(numbers) < COUNTS.get(name, len(numbers) + 1):
        raise LookupError(numbers)
    index, head, *more = numbers
    layer = layers[index]
    if head >= layer.n_heads:
        raise LookupError(numbers)
    if name == "answer" and asked is not None:
        answer: Answer | None = model_cache.process_caches().reruns.find((run.request, Rerun(ask_text, asked)))
        if answer is None or not 0 <= more[0] < more[1] <= len(answer.rows):
            raise LookupError(asked)
        row = sum(layer.n_heads for layer in layers[:index]) + head
        return answer.rows[slice(*more[:2]), row, : len(run.source)].astype("<f4").mean(0).tobytes()
    overview = _overview(run, stack_id, index, head)
    if name == "overview":
        return overview.pack(layer)
    if name == "tile":
        step, i, j = more[:3]
        size = step * long_text.TILE
        if step not in (1, 2, 4, 8, 16, 32) or i * size >= layer.shape[2] or j * size >= layer.shape[3]:
            raise LookupError(numbers)
        codes = long_text.log_codes(long_text.make_tile(layer, head, overview.lse, step, i, j))
        return pack_blob({"rows": codes.shape[0], "columns": codes.shape[1]}, codes.tobytes())
    if name in ("q", "k"):
        return long_text.head_vectors(layer, head, name, *more[:1]).tobytes()
    if name == "row" and 0 <= more[0] < more[1] <= layer.shape[2]:
        return long_text.mean_row(layer, head, *more[:2]).cpu().numpy().astype("<f4").tobytes()
    raise LookupError(numbers)
