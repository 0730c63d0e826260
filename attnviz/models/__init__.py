"""Trained models: the only package that imports transformers."""
