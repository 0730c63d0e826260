"""Attention by hand, step by step; each lesson is a module."""

__all__ = [
    "attention_by_hand",
    "boards",
    "cells",
    "embeddings",
    "generated_code",
    "inputs",
    "many_heads",
    "mixing_matrix",
    "normalisers",
    "size_mismatches",
    "steps",
    "two_sources",
]
