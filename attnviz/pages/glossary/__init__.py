"""The page glossary: choices, maths, figures, panels."""
