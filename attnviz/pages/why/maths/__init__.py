"""What the page computes of a sentence and its next token."""
