"""What the page scaling shows: widgets, results, figures and words."""
