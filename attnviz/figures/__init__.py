"""Plotly figures: arrays and strings in, go.Figure out. The only package that imports plotly."""
