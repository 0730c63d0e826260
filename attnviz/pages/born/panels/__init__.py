"""The sections of the page How a head is born."""
