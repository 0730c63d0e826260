"""Section traps, to come."""


def panel() -> None:
    """Draw the section."""
