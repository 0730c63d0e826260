"""What the start page shows: one lesson, `landing`, and how well its model reads a sentence, `sentence_fit`."""

__all__ = ["landing", "sentence_fit"]
