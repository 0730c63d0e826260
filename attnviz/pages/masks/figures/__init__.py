"""What the page masks draws with: arrays in, a figure out."""
