"""The page Glossary: terms of attention, and where to see each."""
