"""What the page Why this token? shows: which parts of a model put a token first."""
