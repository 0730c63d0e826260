"""The page positions: choices, maths, figures, panels."""
