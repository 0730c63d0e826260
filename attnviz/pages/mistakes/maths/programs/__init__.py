"""The mistakes, a file for each topic."""
