"""What `import attnviz as av` adds for a notebook: tables and pictures that show themselves. No Streamlit."""

from attnviz.notebook.head_table import COLUMNS, HeadTable, cost_of_heads, find_heads
from attnviz.notebook.view import NotebookView, show

__all__ = ["COLUMNS", "HeadTable", "NotebookView", "cost_of_heads", "find_heads", "show"]
