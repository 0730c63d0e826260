"""The page decoding: choices, maths, figures, panels."""
