"""The sections of the page Fast attention."""
