"""What the page How a head is born shows: a small model that learns to repeat, at every step of its training."""
