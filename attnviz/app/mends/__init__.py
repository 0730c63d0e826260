"""Faults of Streamlit, each mended in a file of its own."""
