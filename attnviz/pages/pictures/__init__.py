"""The page pictures: choices, maths, figures, panels."""
