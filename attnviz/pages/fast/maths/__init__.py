"""What the page computes: a run over tiles, its rounding, what it costs, a cache in blocks."""
