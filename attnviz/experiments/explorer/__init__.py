"""What the explorer shows: a sentence read by a model, its heads, their stages, and what-ifs."""
