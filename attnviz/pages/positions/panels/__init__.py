"""What the page positions shows: widgets, results, figures and words."""
