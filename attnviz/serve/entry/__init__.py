"""The file that Streamlit is started with, and its settings beside it."""
