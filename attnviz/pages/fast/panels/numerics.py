"""Section numerics, to come."""


def panel() -> None:
    """Draw the section."""
