"""What the page explore shows: widgets, results, figures and words."""
