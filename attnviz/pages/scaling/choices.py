"""What a visitor can choose on the scaling page."""

from attnviz.app.links.choices import PageChoices
from attnviz.base.words import N_
from attnviz.models.loading import EXAMPLES
from attnviz.pages.scaling.maths import alternatives, variance

PAGE = PageChoices("scaling")
NOTHING_BESIDE = "none"  #: raw and scaled stand alone
SECTION = PAGE.one_of(
    "s_section",
    ("variance", "training", "alternatives", "head", "softmax"),
    label=N_("Section"),
    moved={"saturation": "variance", "gradient": "variance"},
)

# Shared by several sections
D_K = PAGE.integer("s_dk", 64, low=1, high=4096, label=N_("d_k"))
KEYS = PAGE.integer("s_keys", 16, low=1, high=4096, label=N_("Keys, n"))
SEED = PAGE.integer("s_seed", 0, low=0, high=999_999, label=N_("Seed"))
ALTERNATIVE = PAGE.one_of("s_alternative", tuple(alternatives.CHOICES), label=N_("Alternative"))
#: the alternative beside raw and scaled; "": none
BESIDE = PAGE.one_of("s_beside", ("", NOTHING_BESIDE, *alternatives.CHOICES), label=N_("Show beside raw and scaled"))
#: the parameter of each alternative that has one
PARAMETERS = {
    alternative.id: PAGE.real(
        f"s_{alternative.id}", alternative.default, alternative.low, alternative.high, label=alternative.parameter
    )
    for alternative in alternatives.ALTERNATIVES.values()
    if alternative.parameter
}

# 1 From products to gradients
COMPONENTS = PAGE.one_of("s_components", tuple(variance.DISTRIBUTIONS), "normal", label=N_("Components of q and k"))
#: how strongly a distribution breaks an assumption: its correlation, or its mean
STRENGTHS = {
    "correlated": PAGE.real("s_correlation", 0.5, *variance.BROKEN["correlated"], label=N_("Correlation")),
    "shifted": PAGE.real("s_mean", 0.5, *variance.BROKEN["shifted"], label=N_("Mean")),
}
PAIRS = PAGE.integer("s_pairs", 100_000, low=1, high=1_000_000, label=N_("Pairs of q and k"))
GUESS = PAGE.one_of("s_guess", label=N_("Your guess"))  #: what is guessed, and from which d_k on: "twice.64"

MORE = PAGE.flag("s_more", label=N_("Eight measures of many rows"))  #: whether they are drawn

# 2 Training
OPTIMIZER = PAGE.one_of("s_optimizer", ("sgd", "adam"), label=N_("Optimizer"))
RATE = PAGE.real("s_rate", 1.0, 0.001, 10.0, label=N_("Learning rate"))
STEPS = PAGE.integer("s_steps", 300, low=10, high=2000, label=N_("Steps"))
SEEDS = PAGE.integer("s_seeds", 4, low=1, high=8, label=N_("Seeds"))

# 4 A real head
MODEL = PAGE.one_of("s_model", label=N_("Model"))
SENTENCE = PAGE.sentence("s_text", EXAMPLES[0].text, longest=2000, label=N_("Sentence"))
LAYER = PAGE.integer("s_layer", 0, low=0, high=999, label=N_("Layer, from 0"))
HEAD = PAGE.integer("s_head", 0, low=0, high=999, label=N_("Head, from 0"))
FACTOR = PAGE.real("s_factor", 2.0, 0.0, 1000.0, label=N_("Scale × the model’s"))

# 5 Softmax itself
SCORES = PAGE.text("s_scores", "[2.3, 9.1, 0.5]", longest=40_000, label=N_("Scores"))
TEMPERATURE = PAGE.real("s_T", 1.0, 0.0, 1_000_000.0, label=N_("Temperature, T"))
BLOCK = PAGE.integer("s_block", 2, low=1, high=4096, label=N_("Scores in a block"))
