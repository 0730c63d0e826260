"""One head, large."""
