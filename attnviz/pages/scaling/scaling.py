"""Why scores are divided by the square root of d_k: tried by hand, measured, and trained."""

from attnviz.app import page_parts, show
from attnviz.app.panel import show_problems
from attnviz.base.words import _
from attnviz.pages.scaling import choices
from attnviz.pages.scaling.page_entry import PAGE
from attnviz.pages.scaling.panels import alternatives, real_head, retrieval_training, softmax, variance


def page() -> None:
    """Draw the page. A panel returns the program that prints its numbers; None: no short program can."""
    panels: dict[str, tuple[str, page_parts.SectionPanel]] = {
        "variance": (_("1 From products to gradients"), variance.growing_panel),
        "training": (_("2 Training"), retrieval_training.panel),
        "alternatives": (_("3 Alternatives"), alternatives.panel),
        "head": (_("4 A real head"), real_head.panel),
        "softmax": (_("5 Softmax itself"), softmax.panel),
    }
    code = page_parts.draw_sections(PAGE, choices.SECTION, panels)
    if code is not None:
        with show_problems():
            show.program(code, "scaling", _("This section in PyTorch"))


if __name__ == "__main__":  # Streamlit runs this file
    page()
