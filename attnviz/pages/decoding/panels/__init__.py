"""What the page decoding shows: widgets, results, figures and words."""
