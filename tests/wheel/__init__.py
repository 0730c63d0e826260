"""The wheel, installed where nothing else of ours is."""
