"""The panels of the sharing page; each is a module."""

__all__ = [
    "count_panel",
    "latent_panel",
    "prove_panel",
    "published_panel",
    "see_panel",
    "sharing_choices",
    "size_panel",
    "tables",
    "three_ways",
    "units",
]
