"""What everything stands on: messages and problems, words, bits, bytes, limits."""
