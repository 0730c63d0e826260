"""The panels of the mask page; each is a module."""

__all__ = [
    "far_panel",
    "layers_panel",
    "leak_panel",
    "mask_choices",
    "mask_code_panel",
    "rules_form",
    "sentence_words",
    "traps_panel",
    "workbench",
]
