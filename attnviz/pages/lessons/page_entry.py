"""What the app knows of this page before it is opened."""

from attnviz.app.page_entry import BEGIN, Page
from attnviz.base.words import N_

PAGE = Page(
    name="lessons",
    title=N_("Lessons"),
    heading=N_("Lessons"),
    about=N_(
        "Eight short lessons, from what attention is to where it sits in a model. Predict before you look, then try it."
    ),
    icon=":material/school:",
    group=BEGIN,
    question=N_("What is attention, how is it computed, and why like this? Nine lessons, step by step."),
)
