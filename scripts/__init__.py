"""Programs for developers, run as `python -m scripts.NAME`."""
