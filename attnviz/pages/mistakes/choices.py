"""What a visitor can choose on this page: which mistake, which line of it, and the sentence that it runs on."""

from attnviz.app.links.choices import PageChoices
from attnviz.base.words import N_
from attnviz.pages.mistakes.maths.all_mistakes import MISTAKES, TOPICS

Guess = tuple[str, int]  #: a mistake, and a line of its wrong program, counted from 1; 0: shown without a guess


def _parse_guess(text: str) -> Guess:
    name, _dot, number = text.partition(".")
    if not 0 <= int(number) <= len(MISTAKES[name].wrong_code):
        raise ValueError(text)
    return name, int(number)


PAGE = PageChoices("mistakes")
CHANCE = "chance"
TOPIC = PAGE.one_of("topic", (CHANCE, *TOPICS), label=N_("Topic"))
MISTAKE = PAGE.one_of("mistake", tuple(MISTAKES), label=N_("Program"))
GUESS = PAGE.custom(
    "guess",
    None,
    _parse_guess,
    lambda guess: "" if guess is None else f"{guess[0]}.{guess[1]}",
    (next(iter(MISTAKES)), 1),
    label=N_("Line"),
)
SENTENCE = PAGE.sentence(
    "mi_text", "The cat sat on the mat because it was tired", longest=3000, label=N_("Your sentence")
)
SEED = PAGE.integer("mi_seed", 0, low=0, high=9999, label=N_("Seed"))
