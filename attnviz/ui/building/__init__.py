"""The panels of the building page; each is a module."""

__all__ = [
    "building_choices",
    "code_panel",
    "config_form",
    "lesson_heads",
    "lesson_qkv",
    "lesson_softmax",
    "lesson_two_sources",
    "numbers",
    "place",
    "sizes_panel",
    "walk",
    "weights_panel",
]
