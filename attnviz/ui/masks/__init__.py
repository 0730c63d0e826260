"""The panels of the masks page; each is a module."""

__all__ = [
    "far_panel",
    "layers_panel",
    "leak_panel",
    "mask_code_panel",
    "mask_state",
    "rules_form",
    "traps_panel",
    "workbench",
]
