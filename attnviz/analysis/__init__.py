"""A model over a sentence or over many: what several pages, the engine and the notebook use."""
