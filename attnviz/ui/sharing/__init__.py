"""The panels of the sharing page: see it, count it, size it, prove it, MLA, and what others print."""
