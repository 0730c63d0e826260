"""What a visitor can choose on the page about which head does what."""

from attnviz.app.links.choices import Choice, HeadPlace, PageChoices, head_name, parse_head
from attnviz.base.words import N_
from attnviz.models.loading import EXAMPLES
from attnviz.pages.heads.maths import head_survey

LONGEST_TEXT = 20_000  # characters of one's own text
MOST_COSTS = 16  #: sentences on which a visitor may measure costs

PAGE = PageChoices("heads")
MODEL = PAGE.one_of("hd_model", label=N_("Model"))
TEXT = PAGE.one_of("hd_text", ("repeated", "books", "own"), label=N_("Read"))
OWN_TEXT = PAGE.text("hd_own", longest=LONGEST_TEXT, label=N_("Your text: a line is a sentence"))
COUNT = PAGE.integer(
    "hd_count", head_survey.SENTENCES, low=2, high=head_survey.SENTENCES, label=N_("Sentences at most")
)
SEED = PAGE.integer("hd_seed", 0, low=0, high=9999, label=N_("Seed"))  #: of random words
MEASURE = PAGE.one_of("hd_by", (*head_survey.PATTERNS, *head_survey.COSTS), label=N_("Measure"))
ORDER = PAGE.one_of("hd_order", ("kind", "layer"), label=N_("Order of the heads"))
GUESS = PAGE.one_of("hd_guess", label=N_("Your guess"))  #: what is guessed, and of what: "0.smollm2-135m.53-29-42"
SECOND_MODEL = PAGE.one_of("hd_other", label=N_("Model beside it"))
MODEL_OF_HEAD = PAGE.one_of(
    "hd_of", ("first", "second"), label=N_("Model of the head on show")
)  #: which of the two models has the selected head
CHOSEN_HEAD: Choice[HeadPlace | None] = PAGE.custom(
    "hd_at", None, parse_head, head_name, (3, 1), label=N_("Head (layer.head)")
)  #: None: the strongest
#: 0: the visitor's own sentence; else the tenth that it is of, 1 being where the head shows the measure most
EXAMPLE = PAGE.integer("hd_example", 1, low=0, high=head_survey.EXAMPLES_KEPT, label=N_("Example"))
SENTENCE = PAGE.sentence("hd_sentence", EXAMPLES[0].text, longest=2000, label=N_("Sentence"))
COSTS_ON = PAGE.integer("hd_costs_on", 2, low=1, high=MOST_COSTS, label=N_("Sentences for costs"))
