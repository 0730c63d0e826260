"""The page compare: choices, maths, figures, panels."""
