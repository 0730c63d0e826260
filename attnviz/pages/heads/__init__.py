"""The page heads: choices, maths, figures, panels."""
