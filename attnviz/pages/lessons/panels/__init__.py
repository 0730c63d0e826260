"""What the page lessons shows: widgets, results, figures and words."""
