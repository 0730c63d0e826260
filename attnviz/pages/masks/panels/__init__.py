"""What the page masks shows: widgets, results, figures and words."""
