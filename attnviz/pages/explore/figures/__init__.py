"""What the page explore draws with: arrays in, a figure out."""
