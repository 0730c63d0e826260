"""Bars by layer, the logit lens, a circuit, and a map of patches."""
