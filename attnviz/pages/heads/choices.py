"""What a visitor can choose on the page about which head does what."""

from attnviz.app.links.choices import Choice, HeadPlace, PageChoices, head_of, name_of_head
from attnviz.pages.heads.maths import head_survey

LONGEST_TEXT = 20_000  # characters of one's own text
MOST_COSTS = 16  #: sentences on which a visitor may measure costs

PAGE = PageChoices("heads")
MODEL = PAGE.one_of("hd_model")
TEXT = PAGE.one_of("hd_text", ("repeated", "books", "own"))
OWN = PAGE.text("hd_own", longest=LONGEST_TEXT)
COUNT = PAGE.whole("hd_count", head_survey.SENTENCES, low=2, high=head_survey.SENTENCES)
SEED = PAGE.whole("hd_seed", 0, low=0, high=9999)  #: of random words
BY = PAGE.one_of("hd_by", (*head_survey.PATTERNS, *head_survey.COSTS))
AGAINST = PAGE.one_of("hd_against", (*head_survey.COSTS, *head_survey.PATTERNS))
OTHER = PAGE.one_of("hd_other")  #: the model beside it
OF = PAGE.one_of("hd_of", ("first", "second"))  #: which of the two models the head on show is of
AT: Choice[HeadPlace | None] = PAGE.other("hd_at", None, head_of, name_of_head, (3, 1))  #: None: the strongest
EXAMPLE = PAGE.whole("hd_example", 1, low=1, high=5)
COSTS_ON = PAGE.whole("hd_costs_on", 2, low=1, high=MOST_COSTS)
