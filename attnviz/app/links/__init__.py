"""A visitor's choices and their links: declared once, then read and written by the declaration."""
