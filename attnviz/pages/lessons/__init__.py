"""The page lessons: choices, maths, figures, panels."""
