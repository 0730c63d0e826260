"""The page explore: choices, maths, figures, panels."""
