"""What the page pictures draws with: arrays in, a figure out."""
