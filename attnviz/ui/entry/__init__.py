"""The file that Streamlit is started with, and its settings beside it. In a folder of its own: Streamlit looks for
modules in the folder of that file."""

__all__ = ["app"]
