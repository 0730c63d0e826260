"""Serving a class: several processes behind nginx, and files for machines elsewhere."""
