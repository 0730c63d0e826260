"""Benchmarks, each run by one command: python -m benchmarks.NAME."""
