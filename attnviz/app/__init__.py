"""What pages use of Streamlit: links, widgets, caches, figures to export."""
