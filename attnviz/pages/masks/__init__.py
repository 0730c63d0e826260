"""The page masks: choices, maths, figures, panels."""
