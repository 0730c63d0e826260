"""Streamlit helpers shared by the pages. The only package that imports streamlit."""
