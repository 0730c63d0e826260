"""Tables and live pictures for notebooks, part of `import attnviz as av`. No Streamlit."""

from attnviz.notebook.head_table import COLUMNS, HeadTable, cost_of_heads, find_heads
from attnviz.notebook.training_watch import TrainingWatch, watch
from attnviz.notebook.view import NotebookView, show

__all__ = ["COLUMNS", "HeadTable", "NotebookView", "TrainingWatch", "cost_of_heads", "find_heads", "show", "watch"]
