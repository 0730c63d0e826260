"""What Streamlit knows of the run it is making: which page it is for, and whether Back or Forward asked for it.

Streamlit promises neither. Where they are gone, every run looks like one that Back or Forward asked for: the
link is then believed whenever it differs from what was written, as it was before they were asked for.
"""

from __future__ import annotations

from streamlit.runtime.scriptrunner import get_script_run_ctx


def by_history() -> bool:
    """Whether the browser's Back or Forward asked for this run, and not a gesture on the page."""
    return bool(getattr(get_script_run_ctx(suppress_warning=True), "is_history_navigation", True))


def page_id() -> str:
    """A name for the page of this run; in a callback, of the page that the run is going to draw."""
    return str(getattr(get_script_run_ctx(suppress_warning=True), "page_script_hash", ""))
