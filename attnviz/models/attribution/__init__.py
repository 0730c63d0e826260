"""Explain a logit: the terms that add up to it, and its change when a component is patched or ablated."""
