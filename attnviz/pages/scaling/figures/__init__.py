"""What the page scaling draws with: arrays in, a figure out."""
