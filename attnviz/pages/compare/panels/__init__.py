"""What the page compare shows: widgets, results, figures and words."""
