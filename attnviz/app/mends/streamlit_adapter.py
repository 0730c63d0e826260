"""All that Streamlit's documentation does not promise and that the app uses: its error class, its page's style, ids.

A change of what it does promise raises an error; a change of these would go unnoticed.
"""

from __future__ import annotations

import hashlib
import inspect
import logging
import threading
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any, cast

import streamlit as st
from streamlit import config, errors
from streamlit import logger as streamlit_logger
from streamlit.runtime.scriptrunner import get_script_run_ctx
from streamlit.runtime.scriptrunner_utils import script_run_context
from streamlit.runtime.state.safe_session_state import SafeSessionState
from streamlit.runtime.state.session_state import SessionState

from attnviz.app.mends import fragment_places, nested_fragments, theme_message, whole_callbacks
from attnviz.base.reliance import Reliance, gone

log = logging.getLogger("attnviz")

_FOUND = threading.local()  #: what a thread found in the session that it runs for

#: A number of a metric and what it is called stand in as many lines as they need: Streamlit would cut them.
#: No paragraph ends in a line of one letter, and Chinese letters, which no font has slanted, are never slanted.
#: Streamlit leaves 6rem above the first line, of which its bar covers 4 on a phone, and lets wide formulas run off it.
#: On a phone parts stand closer, so that a picture begins on the first screen. What listens for a lecturer's keys has
#: no height, and takes no gap and no width of its own.
#: Its captions are too pale to be read by all, and so are its colours of code and white on the dark theme's buttons.
#: A menu keeps its height near the window's lower edge. Streamlit would shrink it to what is left there, 48 pixels at
#: worst; as it no longer fits below its button, it opens above it. Half a window fits on one of the two sides.
#: Buttons to choose one of lie apart, because a row of joined ones that wraps has square ends in the middle; they are
#: as high as a box beside them. What is said under a picture fills its line, and the export stands at its end, on a
#: phone below it. A table's own tools lie over what is above the table: never over the matrices to choose from, and on
#: no touch screen, where nothing makes them go away.
#: A menu hangs outside of the app's own element, where no colour scheme is set: its words have the menu's own colour.
#: A canvas, a box with its label and a line of the menu have the height before they are drawn that they have then:
#: what stands below does not jump.
#: What a run has not sent yet keeps its looks for a while and then dims in a few steps. Streamlit would fade it from
#: half a second on, and every expander's border with it, sixty times a second: on a machine that computes as well, the
#: browser then takes most of a core from the model. Headings of expanders are never out of date.
#: Who asked the system for less motion sees nothing slide or fade; Streamlit still hears that a motion has ended.
#: Under a text it asks for Ctrl+Enter, which no phone has; the text is read when one leaves it, and the key works too.
PAGE_STYLE = """<style>
.stMainBlockContainer { padding: 2.75rem clamp(1rem, 3.5vw, 3rem) 4rem }
@media (max-width: 640px) {
  .stMainBlockContainer { padding-top: 4.25rem }
  .stMainBlockContainer :is(.stVerticalBlock, [data-testid=stHorizontalBlock]) { row-gap: 0.7rem }
}
[data-testid=stLayoutWrapper]:has(> .st-key-presenter-place) { position: absolute; width: 0 }
.katex-display { overflow-x: auto; overflow-y: hidden; padding-inline: 3px }
.stTextArea textarea, .stTextInput input { unicode-bidi: plaintext; text-align: start }
[data-testid=stCaptionContainer] { color: light-dark(#5d6066, #a9adb4) !important; opacity: 1 !important }
[data-testid=stCaptionContainer] p { color: inherit; opacity: 1 }
[data-testid=stBaseButton-tertiary] p { text-align: start }
[data-testid=stBaseButton-primary]:not(:disabled) { &, p { color: light-dark(#fff, #14161c) } }
.stCode .token:is(.comment, .punctuation) { color: light-dark(#5d6066, #a9adb4) !important }
.stCode .token:is(.keyword, .function, .class-name) { color: light-dark(#0b5cad, #6db5f9) !important }
.stCode .token:is(.boolean, .number, .string) { color: light-dark(#0b6b34, #5fd08b) !important }
.stCode .token:is(.operator, .decorator) { color: light-dark(#8a3f00, #ffb26b) !important }
[data-testid=stTextArea] [data-testid=InputInstructions] { display: none }
[data-testid=stMarkdownContainer] p { text-wrap-style: pretty }
:lang(zh) em { font-synthesis-style: none }
:is([data-testid=stMetricLabel], [data-testid=stMetricValue], [data-testid=stMetricDelta]) :is(div, p),
:is([data-testid=stMetricLabel], [data-testid=stMetricValue], [data-testid=stMetricDelta]) {
  white-space: normal !important; overflow: visible !important; text-overflow: clip !important; overflow-wrap: anywhere
}
.st-key-pic-upload [data-testid=stFileUploaderDropzoneInstructions] { display: none }
[data-variant=segmented_control][data-selected=true] p { color: light-dark(#7a2382, #c98bd6) }
[data-testid=stPopoverButton][aria-expanded=true] { color: light-dark(#7a2382, #c98bd6) !important }
[data-testid=stPopoverBody] { max-height: calc(50vh - 2rem) !important }
[data-testid=stPopoverBody] [data-testid=stCaptionContainer] { color: inherit !important; opacity: 0.85 !important }
[data-testid=stPopoverBody] [data-variant=segmented_control][data-selected=true] p { color: inherit; font-weight: 600 }
[data-testid=stPopoverBody] .stCode .token { color: inherit !important }
.st-key-presenter-place { max-width: calc(100vw - 2rem) }
.st-key-page-heading > [data-testid=stLayoutWrapper]:has(> .st-key-page-about) { flex: 1 0 100% !important }
@media (min-width: 1000px) and (max-height: 760px) {
  .st-key-page-heading { flex-wrap: nowrap !important }
  .st-key-page-heading > [data-testid=stLayoutWrapper] {
    order: 1; &:has(> .st-key-page-about) { order: 0; flex: 1 1 0 !important; width: auto }
  }
  .st-key-page-about p { font-size: 0.85rem; line-height: 1.3; margin: 0 }
}
@media (min-width: 1000px) and (max-height: 760px), (max-width: 640px) {
  [data-testid=stLayoutWrapper]:has(> .st-key-page-terms-low) { order: 9; margin-top: auto }
  .stVerticalBlock:has(> [data-testid=stLayoutWrapper] > .st-key-page-terms-low) { min-height: 115vh }
}
.st-key-l-vectors {
  container-type: inline-size;
  table { width: 100% }
  :is(td, th) { padding: 0.2rem 0.75rem !important }
  :is(td, th):nth-child(n + 3) { padding-inline: 0.4rem !important; &:not(:last-child) { border-inline-end: 0 } }
  :is(td, th):nth-child(n + 4) { border-inline-start: 0 }
  td:nth-child(n + 3) { text-align: end; font-variant-numeric: tabular-nums; white-space: nowrap }
  th:nth-child(3) { max-width: 0; white-space: nowrap; overflow: visible }
}
@container (max-width: 1100px) { .st-key-l-vectors :is(td, th):nth-child(n + 15):not(:last-child) { display: none } }
@container (max-width: 960px) { .st-key-l-vectors :is(td, th):nth-child(n + 13):not(:last-child) { display: none } }
@container (max-width: 820px) { .st-key-l-vectors :is(td, th):nth-child(n + 11):not(:last-child) { display: none } }
@container (max-width: 680px) { .st-key-l-vectors :is(td, th):nth-child(n + 9):not(:last-child) { display: none } }
@container (max-width: 540px) { .st-key-l-vectors :is(td, th):nth-child(n + 7):not(:last-child) { display: none } }
@container (max-width: 380px) { .st-key-l-vectors :is(td, th):nth-child(n + 6):not(:last-child) { display: none } }
@media (min-width: 1200px) and (min-height: 840px) {
  .st-key-l-vectors :is(td, th) { padding-block: clamp(0.2rem, (100vh - 47rem) / 30, 0.7rem) !important }
}
@media (min-width: 1600px) { .st-key-l-vectors :is(td, th) { font-size: 1.1rem } }
@media (max-width: 640px) {
  [data-testid=stMarkdownContainer] :is(td, th) { padding: 0.3rem 0.35rem; font-size: 0.85rem; overflow-wrap: anywhere }
}
@media (max-width: 640px) {
  [class*="st-key-terms-"] { row-gap: 0 }
  [class*="st-key-page-terms"] [class*="st-key-terms-"] { flex-wrap: nowrap; overflow-x: auto; scrollbar-width: none }
  [class*="st-key-terms-"] > * { flex-shrink: 0 }
  [class*="st-key-two-in-a-row-"] [data-testid=stColumn] { flex: 1 1 40%; min-width: 40% }
  .st-key-l-top > :is(.st-key-l-lessons, .st-key-l_text) { flex: 1 1 100% !important; width: 100% !important }
  :is(.st-key-l-top, .st-key-l-below) > :is([class*="st-key-l-previous"], [class*="st-key-l-next"]) {
    flex: 1 1 40% !important
  }
  :is(.st-key-l-top, .st-key-l-below) button { width: 100% }
  .st-key-l-vectors :is(td, th) { padding: 0.2rem 0.4rem !important; font-size: 0.85rem }
}
@media (max-width: 640px) {
  :is(.st-key-p_section, .st-key-s_section) > [data-testid=stSkeleton] { min-height: 130px }
  :is(.st-key-c_section, .st-key-d_view, .st-key-h_view) > [data-testid=stSkeleton] { min-height: 84px }
}
@media (max-width: 640px) {
  [data-testid=stHorizontalBlock] > .st-key-d_prompt { flex: 1 1 100% !important }
  .st-key-p-order-controls > .st-key-p_kind { flex: 1 1 0 !important; width: auto !important; min-width: 0 }
  [data-testid=stLayoutWrapper]:has(> .st-key-p-order-said) {
    order: 1; & ~ * { order: 2 } &:not(:has(~ * > .st-key-p-order-pictures)) { visibility: hidden }
  }
  .st-key-p-order-pictures { min-height: 50rem }
  [data-testid=stLayoutWrapper]:has(> .st-key-p-order-said) ~ :has(> .st-key-p-order-pictures) { order: 0 }
}
@media (min-width: 641px) { .st-key-l-below { display: none } }
[data-testid=stButtonGroup] > div { gap: 0.3rem !important; flex-wrap: wrap }
[data-testid=stButtonGroup] button { border-radius: 0.5rem !important; margin: 0 !important }
[data-testid=stButtonGroup] [data-variant=segmented_control] { min-height: 2.5rem }
[data-variant=segmented_control]:not([data-selected=true]):not(:hover):not(:focus-visible) {
  border-color: light-dark(#dcd8e3, #343946) !important
}
.stHorizontalBlock[class*="-under"] > .stElementContainer { flex: 1 1 15rem !important }
.stHorizontalBlock[class*="-under"] > [data-testid=stLayoutWrapper] { flex: 0 0 auto !important; width: auto }
@media (max-width: 640px) {
  .stHorizontalBlock[class*="-under"] > .stElementContainer { flex-basis: 100% !important }
}
.st-key-b-weights [data-testid=stElementToolbar] { display: none }
@media (hover: none) { [data-testid=stElementToolbar] { display: none } }
@media (min-width: 641px) { .st-key-step-formula .katex-display > .katex { text-align: left } }
.st-key-page-heading .stHorizontalBlock { flex-wrap: nowrap }
.st-key-presenter-place { position: absolute; pointer-events: none }
.stHorizontalBlock .stElementContainer[class*="st-key-"] > [data-testid=stSkeleton] { min-height: 68px }
.st-key-w_find > [data-testid=stSkeleton] { min-height: 68px }
.st-key-page-heading .st-key-present { min-width: 4.3rem }
.st-key-page-heading .st-key-share { min-width: 4.4rem }
.st-key-page-heading .stElementContainer > [data-testid=stSkeleton],
[class*="st-key-glossary-"] .stElementContainer > [data-testid=stSkeleton] { min-height: 40px !important; height: 40px }
[class*="st-key-menu-of-"] > .stElementContainer:not(:first-child) { height: 30px; margin: 0 !important }
.st-key-canvas-of-steps { min-height: 30rem }
.st-key-canvas-of-home { min-height: 28rem }
.st-key-build_strip { min-height: 6rem }
.st-key-build_board { min-height: 15.5rem }
.st-key-h-top { min-height: 29rem }
.st-key-b_kind > [data-testid=stSkeleton] { min-width: 7.7rem }
.st-key-c_axis > [data-testid=stSkeleton] { min-width: 8.4rem }
.st-key-c_count > [data-testid=stSkeleton] { min-width: 10.8rem }
.st-key-p_order > [data-testid=stSkeleton] { min-width: min(21.9rem, 85vw) }
.stHorizontalBlock :is(.st-key-p_causal, .st-key-l_notes) > [data-testid=stSkeleton] {
  min-width: 8rem; min-height: 32px !important; height: 32px
}
.st-key-m-grid, .st-key-m-before, .st-key-m-after { min-height: 18rem }
.st-key-h-three-0, .st-key-h-three-1, .st-key-h-three-2 { min-height: 18rem }
@media (min-width: 1000px) {
  .st-key-canvas-of-heads > [data-testid=stLayoutWrapper]:first-child > .stHorizontalBlock:has(.st-key-by) {
    min-height: max(37rem, 100vh - 18rem)
  }
  .st-key-canvas-of-heads { min-height: 37rem }
  .st-key-head { min-height: 22rem }
  .st-key-patches { min-height: 30rem }
}
.st-key-many-heads > .stElementContainer { min-height: 37rem }
@media (max-width: 640px) {
  .st-key-canvas-of-steps { min-height: 46rem }
  .st-key-pic-asked { min-height: 14.1rem }
  .st-key-patches { min-height: 42rem }
  .st-key-h-top { min-height: 92rem }
}
@media (min-width: 1500px) {
  .st-key-build_board { min-height: 19.5rem }
  .st-key-h-top { min-height: 44rem }
}
@media (min-width: 1400px) {
  .st-key-terms-of-glossary { display: grid; grid-template-columns: 1fr 1fr; align-items: stretch }
}
.st-key-l-tokens p { font-size: clamp(1.2rem, 2vw, 1.9rem); line-height: 2 }
.stElementContainer[data-stale=true] { transition: opacity 0.3s steps(3) 1.2s !important }
.stExpander > details { border-color: light-dark(#dcd8e3, #343946) !important }
.stExpander > details > summary { opacity: 1 !important }
@media (prefers-reduced-motion: reduce) {
  *, ::before, ::after {
    animation-duration: 1ms !important; animation-iteration-count: 1 !important;
    transition-duration: 1ms !important; scroll-behavior: auto !important
  }
}
</style>"""

#: Inside another page the menu begins folded, and the bar that unfolds it would lie over the first line.
EMBEDDED_STYLE = "<style>.stMainBlockContainer { padding-top: 4.25rem }</style>"

MENU_WIDTH = 220  #: pixels of the menu beside a page, where there is room for both

FRONTEND = Path(st.__file__).parent / "static"  #: the files that the browser is sent

#: how the script of a chart begins to draw it, or to draw it again: the one place of it
CHART_DRAWN = b"v.current=v.current.then(()=>{if(!x.current){if(!_.current)throw "

#: The scripts with all of Plotly, by their SHA-256, of which it was tried that our charts are drawn without the rest
PLOTLYS_TRIED = frozenset({"8cb9b72292d50f4ac26b35921c6209897f2a946d03214aa63214e86f129a8cb1"})


def is_streamlits(error: Exception) -> bool:
    """Whether Streamlit raised this to steer or to complain; `st.stop` and `st.rerun` are no Exceptions at all."""
    return isinstance(error, errors.Error)


def upload_id(uploaded: Any) -> str:
    """Another one each time a visitor chooses a file, the same file too."""
    return str(uploaded.file_id)


def by_history() -> bool:
    """Whether the browser's Back or Forward asked for this run, and not a gesture on the page.

    True where Streamlit no longer tells: a link that differs from what was written is then always believed.
    """
    return bool(getattr(get_script_run_ctx(suppress_warning=True), "is_history_navigation", True))


def browsers_language() -> str | None:
    """The language that the visitor's browser asks for, looked up once in what it told of itself: a page asks often."""
    told = getattr(get_script_run_ctx(suppress_warning=True), "context_info", None)
    if told is None:
        return st.context.locale
    if getattr(_FOUND, "told", None) is not told:
        _FOUND.told, _FOUND.locale = told, st.context.locale
    return cast("str | None", _FOUND.locale)


def in_a_run() -> bool:
    """Whether a visitor's run of a page asks; elsewhere there is no session, and Streamlit would complain."""
    return get_script_run_ctx(suppress_warning=True) is not None


def changed_at_once() -> int:
    """How many widgets the browser reported as changed in what it sent for this run. Ask in a callback.

    0 where Streamlit no longer tells: then only the browser's address says whether a gesture was late.
    """
    state = getattr(getattr(get_script_run_ctx(suppress_warning=True), "session_state", None), "_state", None)
    told, changed = getattr(state, "_new_widget_state", None), getattr(state, "_widget_changed", None)
    return 0 if told is None or changed is None else sum(bool(changed(each)) for each in list(told))


def leave_if_gone() -> None:
    """End this run here where its visitor has left or asked for another one. For loops that draw nothing."""
    st.session_state.get("_gone")  # each look into it is a place where Streamlit may end a run


def of_session(key: str) -> dict[str, Any]:
    """A dictionary that this visitor's session keeps under `key`, empty at first.

    Found once by each thread that runs for a visitor: to ask Streamlit's session takes as long as a hundred looks into
    the dictionary, and a page looks a thousand times.
    """
    run = get_script_run_ctx(suppress_warning=True)
    if run is None:
        return cast(dict[str, Any], st.session_state.setdefault(key, {}))
    if getattr(_FOUND, "session", None) is not run.session_state:
        _FOUND.session, _FOUND.by_key = run.session_state, {}
    by_key: dict[str, dict[str, Any]] = _FOUND.by_key
    if key not in by_key:
        by_key[key] = st.session_state.setdefault(key, {})
    return by_key[key]


def page_id() -> str:
    """A name for the page of this run; in a callback, of the page that the run is going to draw."""
    return str(getattr(get_script_run_ctx(suppress_warning=True), "page_script_hash", ""))


def set_where_default(name: str, value: Any, where: str) -> None:
    """Set an option of Streamlit that no file, flag or variable has set."""
    if not config.is_manually_set(name):
        config.set_option(name, value, where)


def log_with(formatter: logging.Formatter) -> None:
    """Let every logger of Streamlit's, each of which has a handler of its own, write by `formatter`."""
    given = streamlit_logger.setup_formatter

    def set_up(logger: logging.Logger) -> None:
        given(logger)
        for handler in logger.handlers:
            handler.setFormatter(formatter)

    streamlit_logger.setup_formatter = set_up
    streamlit_logger.update_formatter()


@cache
def say_what_is_gone() -> None:
    """Log what is missing, once a process: the app goes on, and its operator knows why it looks or acts strangely.

    In a thread of its own: the frontend is 23 MB to look through, and the first visitor should not wait for it.
    """
    threading.Thread(target=_log_what_is_gone, name="attnviz-streamlit-check", daemon=True).start()


def _log_what_is_gone() -> None:
    for message in gone(RELIANCES):
        log.error("%s", message)


def in_frontend(text: str) -> Callable[[], bool]:
    """A check that some script or style sheet of the frontend has `text`."""
    return lambda: any(
        text.encode() in file.read_bytes() for kind in ("*.js", "*.css") for file in sorted(FRONTEND.rglob(kind))
    )


def _steering_is_an_error_class() -> bool:
    return issubclass(errors.StreamlitAPIException, errors.Error) and issubclass(errors.Error, Exception)


def _uploads_have_ids() -> bool:
    from streamlit.runtime import uploaded_file_manager as theirs  # here: only to look at it

    record: Any = theirs.UploadedFileRec(file_id="first", name="view.json", type="application/json", data=b"{}")
    nowhere: Any = None
    return upload_id(theirs.UploadedFile(record, nowhere)) == "first"


def _options_can_be_set() -> bool:
    return callable(config.is_manually_set) and len(inspect.signature(config.set_option).parameters) == 3


def _plotly_was_tried() -> bool:
    scripts = (FRONTEND / "static" / "js").glob("PlotlyChart.*.js")
    return any(hashlib.sha256(script.read_bytes()).hexdigest() in PLOTLYS_TRIED for script in scripts)


def _run_has(name: str) -> Callable[[], bool]:
    return lambda: (
        name in inspect.signature(script_run_context.ScriptRunContext).parameters
        or hasattr(script_run_context.ScriptRunContext, name)
    )


def _changes_can_be_counted() -> bool:
    return callable(getattr(SessionState, "_widget_changed", None)) and hasattr(SessionState(), "_new_widget_state")


def _a_look_may_end_a_run() -> bool:
    asked = []
    nothing: Any = {}
    with suppress(KeyError):
        SafeSessionState(nothing, lambda: asked.append(1))["_gone"]
    return bool(asked)


def _loggers_are_set_up_by_name() -> bool:
    makers = (streamlit_logger.get_logger, streamlit_logger.update_formatter)
    return all("setup_formatter" in maker.__code__.co_names for maker in makers)


def _app_takes() -> bool:
    return {"lifespan", "middleware", "routes"} <= set(inspect.signature(st.App).parameters)


_PRESENTING = "attnviz/app/presenting.py"
_EMBEDDED = "attnviz/app/embedded_figure.py"
#: what our style sheets call by the id that Streamlit gives it for its own tests: the id, who does, and what for
STYLED = (
    ("stSidebar", _PRESENTING, "no menu beside a presentation"),
    ("stHeader", _PRESENTING, "no bar above a presentation"),
    ("stExpandSidebarButton", _PRESENTING, "no button over a presentation"),
    ("stLayoutWrapper", _PRESENTING, "no heading above a presentation"),
    ("stElementContainer", _EMBEDDED, "a figure alone inside another page"),
    ("stAlertContainer", _EMBEDDED, "a refusal beside a figure inside another page"),
    ("stColumn", _EMBEDDED, "no empty column beside a figure inside another page"),
    ("stPopoverBody", "attnviz/serve/main.py", "menus that keep their height near the window's edge"),
    ("stButtonGroup", "attnviz/serve/main.py", "rows of buttons that wrap whole and stand level with boxes"),
    ("stFileUploaderDropzoneInstructions", "attnviz/serve/main.py", "one limit said, a picture's own"),
    ("stElementToolbar", "attnviz/serve/main.py", "tables whose tools cover nothing"),
    ("stSkeleton", "attnviz/serve/main.py", "boxes that keep their height until they are drawn"),
)

RELIANCES: tuple[Reliance, ...] = (
    Reliance(
        "streamlit",
        "errors.Error above all its errors",
        "attnviz/app/guarding.py",
        "telling Streamlit's own errors from a panel's",
        _steering_is_an_error_class,
    ),
    Reliance(
        "streamlit",
        "UploadedFile.file_id",
        "attnviz/app/share_menu.py",
        "opening a saved view once, and again when it is chosen again",
        _uploads_have_ids,
    ),
    Reliance(
        "streamlit",
        "ScriptRunContext.is_history_navigation",
        "attnviz/app/links/link_state.py",
        "believing the link after Back and Forward alone",
        _run_has("is_history_navigation"),
    ),
    Reliance(
        "streamlit",
        "ScriptRunContext.page_script_hash",
        "attnviz/app/links/link_state.py",
        "knowing that a gesture leaves for another page",
        _run_has("page_script_hash"),
    ),
    Reliance(
        "streamlit",
        "SessionState._new_widget_state and SessionState._widget_changed(id)",
        "attnviz/app/late_widgets.py",
        "a gesture made at once with another one not undoing it",
        _changes_can_be_counted,
    ),
    Reliance(
        "streamlit",
        "config.is_manually_set and config.set_option(key, value, where)",
        "attnviz/serve/configuration.py",
        "the app's theme and limits where its settings do not lie beside the script that is run",
        _options_can_be_set,
    ),
    Reliance(
        "streamlit",
        "AppSession._clear_queue, its queue and its fragments",
        "attnviz/app/mends/nested_fragments.py",
        "two quick gestures on a busy server",
        nested_fragments.has_what_it_needs,
    ),
    Reliance(
        "streamlit",
        "SessionState._call_callbacks and ScriptRunner._maybe_handle_execution_control_request",
        "attnviz/app/mends/whole_callbacks.py",
        "gestures in quick succession, which all count",
        whole_callbacks.has_what_it_needs,
    ),
    Reliance(
        "streamlit",
        "app_session._populate_theme_msg(msg, section)",
        "attnviz/app/mends/theme_message.py",
        "working the theme out once, and not for every run",
        theme_message.has_what_it_needs,
    ),
    Reliance(
        "streamlit",
        "fragment.deepcopy, and what a container and a cursor hold",
        "attnviz/app/mends/fragment_places.py",
        "remembering where a fragment stands without taking the page apart",
        fragment_places.has_what_it_needs,
    ),
    Reliance(
        "streamlit",
        "SafeSessionState, which may end a run at each look into it",
        "attnviz/app/cache/waiting_line.py",
        "visitors who have left not being waited for",
        _a_look_may_end_a_run,
    ),
    Reliance(
        "streamlit",
        "logger.get_logger and logger.update_formatter, which ask logger.setup_formatter",
        "attnviz/serve/log_lines.py",
        "a log without a word of any visitor",
        _loggers_are_set_up_by_name,
    ),
    Reliance("streamlit", "App(lifespan=, middleware=, routes=)", "app.py", "warming up and serving files", _app_takes),
    Reliance(
        "streamlit",
        "the class .stMainBlockContainer in its frontend",
        "attnviz/serve/main.py",
        "the space around a page",
        in_frontend("stMainBlockContainer"),
    ),
    Reliance(
        "streamlit",
        "the class .katex-display in its frontend",
        "attnviz/serve/main.py",
        "wide formulas on a phone",
        in_frontend("katex-display"),
    ),
    Reliance(
        "streamlit",
        "data-testid=InputInstructions in its frontend",
        "attnviz/serve/main.py",
        "texts that do not ask for Ctrl+Enter",
        in_frontend("InputInstructions"),
    ),
    Reliance(
        "streamlit",
        "a look at the preferred theme after printing, in its frontend",
        "attnviz/serve/before_streamlit.js",
        "light or dark by a switch, without loading the page again",
        in_frontend("addEventListener(`afterprint`"),
    ),
    Reliance(
        "streamlit",
        "the place where a chart's drawing begins, in its frontend",
        "attnviz/serve/kept_files.py",
        "the first of several charts being seen before the others are drawn",
        in_frontend(CHART_DRAWN.decode()),
    ),
    Reliance(
        "streamlit",
        "a script of Plotly that was tried with a quarter of its parts",
        "attnviz/serve/plotly_parts.py",
        "charts that are drawn half a second sooner",
        _plotly_was_tried,
    ),
    Reliance(
        "streamlit",
        "what it is told of its server before it connects, in its frontend",
        "attnviz/serve/before_streamlit.js",
        "connecting without two rounds of questions",
        in_frontend("enableBypass===!0?"),
    ),
    Reliance(
        "streamlit",
        "the attribute data-variant in its frontend",
        "attnviz/serve/main.py",
        "the chosen button of a row being readable in dark",
        in_frontend('"data-variant":'),
    ),
    *(
        Reliance(
            "streamlit",
            f"the class {name} in its frontend",
            "attnviz/serve/preloading.py",
            "pages that do not jump as they begin",
            in_frontend(f"className:`{name}`"),
        )
        for name in ("stHtml", "stMain", "stSidebar")
    ),
    *(
        Reliance(
            "streamlit", f"data-testid={name} in its frontend", user, purpose, in_frontend(f'"data-testid":`{name}`')
        )
        for name, user, purpose in STYLED
    ),
)
