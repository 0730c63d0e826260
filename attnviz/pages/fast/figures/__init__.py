"""Charts and drawings of the page Fast attention."""
