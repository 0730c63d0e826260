"""What the page decoding draws with: arrays in, a figure out."""
