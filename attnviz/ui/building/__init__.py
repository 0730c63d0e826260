"""The panels of the building page."""
