"""Curves of training runs, and the heads of one step."""
