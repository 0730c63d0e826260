"""Section paged, to come."""


def panel() -> None:
    """Draw the section."""
