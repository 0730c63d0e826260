"""What several components use."""
