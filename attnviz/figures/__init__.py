"""Plotly figures from arrays and strings. No other package imports plotly."""
