"""What every page needs: choices in the link, problems in words, texts made safe, shown figures, models in memory.

The modules named last in `__all__` are imported when asked for: `model_cache` brings torch and transformers, and a
page that shows no model should not wait for them.
"""

from attnviz.ui.shared.bounded_cache import Memory
from attnviz.ui.shared.code_snippet import snippet
from attnviz.ui.shared.controls import came_back, choice, entering, linked, set_linked
from attnviz.ui.shared.guarding import guard, show_problem
from attnviz.ui.shared.text import plain, quoted, spoken

__all__ = [
    "Memory",
    "came_back",
    "choice",
    "entering",
    "guard",
    "linked",
    "links",
    "model_cache",
    "plain",
    "quoted",
    "sentence_input",
    "set_linked",
    "show",
    "show_problem",
    "snippet",
    "spoken",
]
