"""What a visitor can choose on the page that compares attention with recurrence and convolution."""

from attnviz.app.links.choices import PageChoices
from attnviz.pages.compare.maths import layer_costs, layer_timing, position_mixing, reach_training

PAGE = PageChoices("compare")
SECTION = PAGE.one_of("c_section", ("table", "measured", "reach", "shared", "uses"))

# 1 The table, and the parameters of section 4
COUNTING = PAGE.one_of("c_count", ("built", "table"))
AXIS = PAGE.one_of("c_axis", ("n", "d", "k"))
#: sizes, by field of layer_costs.Config
SIZES = {
    name: PAGE.whole(f"c_{name}", getattr(layer_costs.Config, name), *layer_costs.LIMITS[name])
    for name in ("n", "d", "k", "window", "heads")
}

# 2 Measured
WIDTH = PAGE.one_of("c_width", tuple(map(str, layer_timing.WIDTHS)))
PASS = PAGE.one_of("c_pass", ("forward", "training"))
WHERE = PAGE.one_of("c_where", ("prepared", "here"))
LONGEST = PAGE.one_of("c_longest", tuple(str(n) for n in layer_timing.LENGTHS[3:]), "2048")

# 3 Reach, by field of reach_training.Config
REACH_SIZES = {
    name: PAGE.whole(f"c_reach_{name}", getattr(reach_training.Config, name), *reach_training.LIMITS[name])
    for name in ("n", "k", "layers", "steps")
}
REMEMBER = PAGE.real("c_remember", reach_training.Config.remember, 0.0, 10.0)
RATE = PAGE.real("c_rate", reach_training.Config.rate, *reach_training.RATES)
SEED = PAGE.whole("c_seed", 0, low=0, high=999_999)

# 4 What is shared
PLACES = PAGE.whole("c_places", position_mixing.Config.n, low=3, high=position_mixing.LONGEST)
INPUT_SEED = PAGE.whole("c_input", position_mixing.Config.input_seed, low=0, high=999_999)
KERNEL = PAGE.whole("c_kernel", position_mixing.KernelConfig.k, *position_mixing.KERNEL_LIMITS["k"])
