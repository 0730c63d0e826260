"""Tests of the page Fast attention."""
