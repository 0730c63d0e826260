"""Measures of every head over many sentences."""
