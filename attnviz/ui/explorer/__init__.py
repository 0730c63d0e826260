"""The explorer's parts: what to read, the heads, and the panels that unfold below them."""
