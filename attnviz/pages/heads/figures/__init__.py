"""What the page heads draws with: arrays in, a figure out."""
