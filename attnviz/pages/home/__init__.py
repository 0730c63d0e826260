"""The page home: choices, maths, figures, panels."""
