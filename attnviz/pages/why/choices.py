"""What a visitor can choose on this page."""

from attnviz.app.links.choices import PageChoices
from attnviz.base.words import N_
from attnviz.pages.why.maths.parts import CONTRASTS
from attnviz.pages.why.maths.two_prompts import MAX_CIRCUIT_SIZE

LONGEST_TEXT, LONGEST_TOKEN = 20_000, 100  #: characters

PAGE = PageChoices("why")
SECTION = PAGE.one_of("why_section", ("parts", "circuit", "patches"), label=N_("Section"))
MODEL = PAGE.one_of("why_model", label=N_("Model"))
SENTENCE = PAGE.sentence("why_text", CONTRASTS[0].text, longest=LONGEST_TEXT, label=N_("Sentence"))
TOKEN = PAGE.text(
    "why_token", longest=LONGEST_TOKEN, label=N_("Why this token")
)  #: "": the example's, else the likeliest
VERSUS = PAGE.text(
    "why_versus", longest=LONGEST_TOKEN, label=N_("rather than")
)  #: "": the example's, else the one that comes second
ALONE = PAGE.flag("why_alone", label=N_("Its logit alone"))  #: the token's own logit, and not its lead over another
AT = PAGE.one_of("why_at", label=N_("Head (layer.head)"))  #: a head, "23.4"; "": the one that adds most
SILENCE = PAGE.flag(
    "why_silence", label=N_("Silence it, and run the model again")
)  #: whether the model runs again without that head
GUESS = PAGE.one_of("why_guess", label=N_("Your guess"))  #: what is guessed, and of which head: "less.23.4"
SECOND_PROMPT = PAGE.text(
    "why_other", longest=LONGEST_TEXT, label=N_("Second prompt")
)  #: the second prompt; "": the example's
SIZE = PAGE.integer(
    "why_size", 3, low=1, high=MAX_CIRCUIT_SIZE, label=N_("Parts in the circuit")
)  #: parts of the circuit
MLPS = PAGE.flag("why_mlps", label=N_("Leave out MLPs, too"))  #: whether MLPs may be left out of it, too
