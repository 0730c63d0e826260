"""What the page Heads computes."""
