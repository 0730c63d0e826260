"""Code that several components share."""
