"""What the page heads shows: widgets, results, figures and words."""
