"""Sections of the mask page."""
