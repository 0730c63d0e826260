"""`python -m attnviz`: the command attnviz."""

from attnviz.command import run_process

run_process()
