"""All mistakes by topic and id, each from its file."""

from importlib import import_module

from attnviz.base.words import N_
from attnviz.pages.mistakes.maths.mistake import Mistake

#: by topic: its name, and the ids of its mistakes, which are the names of their files and stand in links
TOPICS: dict[str, tuple[str, tuple[str, ...]]] = {
    "masks": (
        N_("Masks"),
        ("softmax_first", "ignored_mask", "meaning", "fill", "before_scaling", "transposed_padding"),
    ),
    "layers": (
        N_("Scores and layers"),
        ("floor_division", "linear_weight", "unused_projections", "dropout_in_eval"),
    ),
    "heads": (
        N_("Heads"),
        ("head_slices", "expanded_heads", "query_heads_of_keys", "group_num"),
    ),
    "positions": (N_("Positions"), ("integer_positions", "left_padding", "odd_axes")),
    "cache": (
        N_("Cache"),
        ("top_left", "cropped_mask", "query_length", "unshifted_positions", "wrong_dimension"),
    ),
    "tiles": (N_("Tiles"), ("no_maximum", "mask_late", "last_tile", "skipped", "empty_row")),
}
TOPIC_OF = {name: topic for topic, (_title, names) in TOPICS.items() for name in names}
MISTAKES: dict[str, Mistake] = {
    name: import_module(f"attnviz.pages.mistakes.maths.programs.{name}").MISTAKE for name in TOPIC_OF
}
