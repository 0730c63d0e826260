"""The panels of the page on scaling: controls, cached results, and one panel per lesson."""
