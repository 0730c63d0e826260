"""Streamlit for pages: links, widgets, caches, figures to export."""
