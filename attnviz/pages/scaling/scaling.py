"""Why scores are divided by the square root of d_k: tried by hand, measured, and trained."""

from collections.abc import Callable

from attnviz.app import presenting
from attnviz.app.code_snippet import snippet
from attnviz.app.guarding import guard
from attnviz.app.page_heading import page_heading
from attnviz.base.words import _
from attnviz.pages.scaling import choices
from attnviz.pages.scaling.page_entry import PAGE
from attnviz.pages.scaling.panels import alternatives, real_head, retrieval_training, saturation, softmax, variance


def page() -> None:
    """Draw the page."""
    page_heading(PAGE)
    section = presenting.section_of(choices.SECTION, titles(), _("Section"))
    with guard():
        code = SECTIONS[section]()
        if code is not None:
            snippet(code, "scaling", _("This section in PyTorch"))


#: each draws its section, and returns the program of its numbers where a few lines can print them
SECTIONS: dict[str, Callable[[], str | None]] = {
    "variance": variance.panel,
    "saturation": saturation.panel,
    "gradient": softmax.gradient_panel,
    "training": retrieval_training.panel,
    "alternatives": alternatives.panel,
    "head": real_head.panel,
    "softmax": softmax.panel,
}


def titles() -> dict[str, str]:
    """Id to title, numbered in the order of the page."""
    return {
        "variance": _("1 Dot products grow"),
        "saturation": _("2 Softmax saturates"),
        "gradient": _("3 Gradients vanish"),
        "training": _("4 Training"),
        "alternatives": _("5 Alternatives"),
        "head": _("6 A real head"),
        "softmax": _("7 Softmax itself"),
    }


if __name__ == "__main__":  # Streamlit runs this file
    page()
