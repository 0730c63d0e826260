"""Why scores are divided by the square root of d_k: tried by hand, measured, and trained."""

from attnviz.app import page_parts, show
from attnviz.app.panel import show_problems
from attnviz.base.words import _
from attnviz.pages.scaling import choices
from attnviz.pages.scaling.page_entry import PAGE
from attnviz.pages.scaling.panels import alternatives, real_head, retrieval_training, saturation, softmax, variance


def page() -> None:
    """Draw the page. A panel returns the program that prints its numbers; None: no short program can."""
    panels: dict[str, tuple[str, page_parts.SectionPanel]] = {
        "variance": (_("1 Dot products grow"), variance.panel),
        "saturation": (_("2 Softmax saturates"), saturation.panel),
        "gradient": (_("3 Gradients vanish"), softmax.gradient_panel),
        "training": (_("4 Training"), retrieval_training.panel),
        "alternatives": (_("5 Alternatives"), alternatives.panel),
        "head": (_("6 A real head"), real_head.panel),
        "softmax": (_("7 Softmax itself"), softmax.panel),
    }
    code = page_parts.draw_sections(PAGE, choices.SECTION, panels)
    if code is not None:
        with show_problems():
            show.program(code, "scaling", _("This section in PyTorch"))


if __name__ == "__main__":  # Streamlit runs this file
    page()
