"""What Streamlit says itself, in English alone: on its buttons, in its boxes, and to a screen reader.

The browser is told how the visitor's language says it; src/streamlits_words.js puts that where Streamlit put its own.
Words that end in a space begin a longer text, such as the name of the field that a help belongs to; words that begin
with one end it.
"""

from __future__ import annotations

from attnviz.base.words import ENGLISH, N_, _, tongue

OWN = (
    N_("Skip to main content"),
    N_("Navigate to home page"),
    N_("Logo"),
    N_("Sidebar Logo"),
    N_("Sidebar"),
    N_("Expand sidebar"),
    N_("Collapse sidebar"),
    N_("Main menu"),
    N_("Choose an option"),
    N_("Choose options"),
    N_("No results"),
    N_("Clear value"),
    N_("Clear all"),
    N_("Select all"),
    N_("Type to search"),
    N_("Increment"),
    N_("Decrement"),
    N_("Fullscreen"),
    N_("Close fullscreen"),
    N_("Download as CSV"),
    N_("Show/hide columns"),
    N_("Search"),
    N_("Copy to clipboard"),
    N_("Copied"),
    N_("Upload"),
    N_("Open"),
    N_("Close"),
    N_("Dismiss"),
    N_("Press Enter to apply"),
    N_("Connecting"),
    N_("Running..."),
    N_("Please wait..."),
    N_("Help"),
    N_("Help for "),
    N_("Remove "),
    N_("Link to heading"),
    N_("progress"),
    N_("file upload"),
    N_("check icon"),
    N_("close icon"),
    N_(" per file"),
)


def own_words() -> dict[str, str]:
    """Each of Streamlit's words in the visitor's language; nothing where that is English."""
    return {} if tongue() == ENGLISH else {english: _(english) for english in OWN}
