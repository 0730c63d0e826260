"""The page build: choices, maths, figures, panels."""
