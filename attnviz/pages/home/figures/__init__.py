"""What the page home draws with: arrays in, a figure out."""
