"""What the page sharing shows: widgets, results, figures and words."""
