"""The panels of the explorer; each is a module."""

__all__ = [
    "consent",
    "edit_state",
    "edit_wording",
    "explorer_choices",
    "head_drawing",
    "head_panel",
    "live_file",
    "panels",
    "request_form",
]
