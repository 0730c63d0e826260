"""Analyses of a model over one sentence or many, for pages, engine and notebook."""
