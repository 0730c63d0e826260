"""Tests of the page How a head is born."""
