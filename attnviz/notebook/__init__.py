"""What `import attnviz as av` adds for a notebook: tables and pictures that show themselves. No Streamlit."""

from attnviz.notebook.find_heads import find_heads
from attnviz.notebook.head_table import HeadTable
from attnviz.notebook.show import View, show

__all__ = ["HeadTable", "View", "find_heads", "show"]
