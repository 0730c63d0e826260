"""What the page pictures shows: widgets, results, figures and words."""
