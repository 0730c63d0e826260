"""What the page build shows: widgets, results, figures and words."""
