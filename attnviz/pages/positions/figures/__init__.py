"""What the page positions draws with: arrays in, a figure out."""
