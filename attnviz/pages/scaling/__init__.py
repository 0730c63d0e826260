"""The page scaling: choices, maths, figures, panels."""
