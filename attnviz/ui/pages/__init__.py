"""The pages: one module each, named as its address; `page` draws it."""

__all__ = [
    "build",
    "compare",
    "decoding",
    "explore",
    "glossary",
    "heads",
    "home",
    "lessons",
    "masks",
    "pictures",
    "positions",
    "scaling",
    "sharing",
]
