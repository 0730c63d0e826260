"""The page How a head is born: a small model learns to repeat words, shown step by step of its training."""
