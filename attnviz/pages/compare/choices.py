"""What a visitor can choose on the page that compares attention with recurrence and convolution."""

from attnviz.app.links.choices import Move, PageChoices
from attnviz.base.words import N_
from attnviz.canvas import signal_race
from attnviz.pages.compare.maths import layer_costs, position_mixing

PAGE = PageChoices("compare")
SECTION = PAGE.one_of("c_section", ("table", "shared"), label=N_("Section"), moved={"reach": "table", "uses": "table"})

# 1 The race, its costs, and the parameters of section 2
STEP = PAGE.integer("c_step", None, 0, signal_race.MOST, label=N_("Steps taken"))
DISTANCE = PAGE.integer("c_distance", 20, 1, signal_race.MOST, label=N_("distance"))
DILATED = PAGE.flag("c_dilated", label=N_("dilated"))
GUESS = PAGE.one_of("c_guess", label=N_("Your guess"))  #: what is guessed, and of which race: "4.20.3"
COUNTING = PAGE.one_of("c_count", ("built", "table"), label=N_("Counted"))
AXIS = PAGE.one_of("c_axis", ("n", "d", "k"), label=N_("Curves over"))
#: sizes, by field of layer_costs.Config
SIZES = {
    name: PAGE.integer(f"c_{name}", getattr(layer_costs.Config, name), *layer_costs.LIMITS[name], label=label)
    for name, label in (
        ("n", N_("tokens n")),
        ("d", N_("width d")),
        ("k", N_("kernel k")),
        ("window", N_("window r")),
        ("heads", N_("heads")),
    )
}

# 2 What is shared
PLACES = PAGE.integer("c_places", position_mixing.Config.n, low=3, high=position_mixing.LONGEST, label=N_("places"))
INPUT_SEED = PAGE.integer("c_input", position_mixing.Config.input_seed, low=0, high=999_999, label=N_("input’s seed"))
KERNEL = PAGE.integer(
    "c_kernel", position_mixing.KernelConfig.k, *position_mixing.KERNEL_LIMITS["k"], label=N_("places k")
)

PAGE.moved["c_section", "measured"] = Move(
    "fast", {"fast_section": "measured", "fast_ways": "layers"}, {}, ("c-time", "fast-seconds")
)
