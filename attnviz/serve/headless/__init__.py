"""A page without a browser: its figures as files."""
