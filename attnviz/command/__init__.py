"""The command `attnviz`: serve the app, make its figures, look through a text's heads, list and fetch models."""

from attnviz.command.command_line import main, run_process

__all__ = ["main", "run_process"]
