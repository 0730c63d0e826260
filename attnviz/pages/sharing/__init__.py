"""The page sharing: choices, maths, figures, panels."""
