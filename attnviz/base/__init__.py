"""Foundations of all layers: messages and problems, translation, records, packed bytes, units."""
