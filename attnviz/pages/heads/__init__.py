"""The page Heads: every head of a model measured over many sentences."""
