"""What the page build draws with: arrays in, a figure out."""
