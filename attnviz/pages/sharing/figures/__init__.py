"""What the page sharing draws with: arrays in, a figure out."""
