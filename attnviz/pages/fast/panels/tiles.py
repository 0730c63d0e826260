"""Section tiles, to come."""


def panel() -> None:
    """Draw the section."""
