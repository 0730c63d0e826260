"""What every page needs: choices kept in the link, error sentences, safe text, figures to export, models in memory.

The modules named last in `__all__` are imported on first use: `model_cache` brings torch and transformers, and a
page that shows no model should not wait for them.
"""

from attnviz.ui.shared.bounded_cache import BoundedCache
from attnviz.ui.shared.choices import EVERY_PAGE, LONGEST_ID, NONSENSE, Choice, PageChoices, Partly, choices_of, pages
from attnviz.ui.shared.code_snippet import program_box, snippet
from attnviz.ui.shared.exports import Gathering, MadeFigure, WrittenFigure, gather, to_csv
from attnviz.ui.shared.formula_line import formulas
from attnviz.ui.shared.fragment_places import remember_places
from attnviz.ui.shared.guarding import guard, show_problem
from attnviz.ui.shared.held_bytes import held_bytes
from attnviz.ui.shared.kept_charts import CHARTS, chart_of
from attnviz.ui.shared.link_reading import chosen_by
from attnviz.ui.shared.link_state import follow, link_parameters, settle
from attnviz.ui.shared.nested_fragments import mend_nested_fragments
from attnviz.ui.shared.page_files import file_of
from attnviz.ui.shared.page_heading import page_heading
from attnviz.ui.shared.streamlit_adapter import (
    CHART_DRAWN,
    EMBEDDED_STYLE,
    FRONTEND,
    MENU_WIDTH,
    PAGE_STYLE,
    PLOTLYS_TRIED,
    log_with,
    say_what_is_gone,
    set_where_default,
    upload_id,
)
from attnviz.ui.shared.text import plain, quoted, spoken, spoken_value, with_minus
from attnviz.ui.shared.theme_message import keep_theme_message
from attnviz.ui.shared.waiting_line import WaitingLine
from attnviz.ui.shared.whole_callbacks import mend_callbacks
from attnviz.ui.shared.widgets import number, one_of, say_refusals, text_area, toggle, two_in_a_row

__all__ = [
    "CHARTS",
    "CHART_DRAWN",
    "EMBEDDED_STYLE",
    "EVERY_PAGE",
    "FRONTEND",
    "LONGEST_ID",
    "MENU_WIDTH",
    "NONSENSE",
    "PAGE_STYLE",
    "PLOTLYS_TRIED",
    "BoundedCache",
    "Choice",
    "Gathering",
    "MadeFigure",
    "PageChoices",
    "Partly",
    "WaitingLine",
    "WrittenFigure",
    "chart_of",
    "choices_of",
    "chosen_by",
    "embedded_figure",
    "file_of",
    "follow",
    "formulas",
    "gather",
    "glossary_terms",
    "guard",
    "held_bytes",
    "keep_theme_message",
    "language_choice",
    "late_widgets",
    "link_pack",
    "link_parameters",
    "link_state",
    "live_run",
    "log_with",
    "mend_callbacks",
    "mend_nested_fragments",
    "model_cache",
    "number",
    "one_of",
    "page_address",
    "page_heading",
    "page_texts",
    "pages",
    "plain",
    "presenting",
    "program_box",
    "quoted",
    "remember_places",
    "saved_views",
    "say_refusals",
    "say_what_is_gone",
    "sentence_input",
    "set_where_default",
    "settle",
    "show",
    "show_problem",
    "snippet",
    "spoken",
    "spoken_value",
    "term_popover",
    "text_area",
    "to_csv",
    "toggle",
    "two_in_a_row",
    "upload_id",
    "widgets",
    "with_minus",
]
