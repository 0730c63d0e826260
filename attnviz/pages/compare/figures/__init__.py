"""What the page compare draws with: arrays in, a figure out."""
