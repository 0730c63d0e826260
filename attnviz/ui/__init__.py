"""What the pages are made of: forms, panels, canvases and links. The only package that imports streamlit."""
