"""Section cost, to come."""


def panel() -> None:
    """Draw the section."""
