"""How order gets into attention; each lesson is a module."""

__all__ = [
    "changed_rope",
    "longer_context",
    "pair_rotation",
    "position_kinds",
    "position_scores",
    "position_snippets",
    "qk_norm_growth",
    "rotation_snippets",
    "shuffled_words",
    "trained_table",
    "video_attention",
    "video_axes",
]
