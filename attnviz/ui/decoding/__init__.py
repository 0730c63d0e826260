"""The page on decoding: one panel for each section, and the choices that they share."""

__all__ = [
    "decoder_form",
    "decoding_choices",
    "decoding_traps_panel",
    "decoding_walk",
    "growth_panel",
    "played_steps",
    "player_panel",
    "policy_panel",
    "quantised_panel",
    "roofline_panel",
]
