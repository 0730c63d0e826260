"""Mistakes as traps: wrong and right code, and what both give."""
