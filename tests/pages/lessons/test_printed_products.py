"""Every product that a lesson or Build prints can be redone from its printed factors, to the last printed digit."""

import math
import re
from collections.abc import Iterator
from html import unescape

import numpy as np
import pytest

from attnviz.pages.build.maths.attention_by_hand import run
from attnviz.pages.build.maths.boards import View, boards
from attnviz.pages.build.maths.inputs import Config
from attnviz.pages.build.panels import numbers
from attnviz.pages.lessons import lessons
from attnviz.pages.lessons.maths import model_facts
from attnviz.pages.lessons.maths.lesson_parts import Facts, Subject
from attnviz.pages.lessons.panels.all_lessons import LESSONS

SENTENCES = ("The animal didn't cross the street because it was too tired.", "Two birds saw it", "cat", "a b c d e f g")
NUMBER = r"−?\d[\d,]*(?:\.\d+)?"
VECTOR = rf"\(((?:{NUMBER}(?:, )?)+)\)"
DOT = re.compile(rf"{VECTOR}·{VECTOR} = ({NUMBER})")
TIMES = re.compile(rf"({NUMBER}) × ({NUMBER}) = ({NUMBER})")
LOGARITHM = re.compile(rf"−ln ({NUMBER}) (=|≈) ({NUMBER})")


def value(text: str) -> float:
    return float(text.replace("−", "-").replace(",", ""))


def half_a_digit(text: str) -> float:
    """How far a number may lie from what is printed of it."""
    return 0.5 * 10.0 ** -len(text.partition(".")[2])


def products(text: str) -> Iterator[tuple[float, float, float]]:
    """(redone from what is printed, printed, how far apart they may lie) of each product in a sentence."""
    for q, k, total in DOT.findall(text):
        redone = sum(value(a) * value(b) for a, b in zip(q.split(", "), k.split(", "), strict=True))
        yield redone, value(total), half_a_digit(total)
    for a, b, total in TIMES.findall(text):
        yield value(a) * value(b), value(total), half_a_digit(total)
    for share, sign, total in LOGARITHM.findall(text):
        rounded = half_a_digit(share) / value(share) if sign == "≈" else 0.0
        yield -math.log(value(share)), value(total), half_a_digit(total) + rounded


def sentences(subject: Subject) -> Iterator[str]:
    """All that the lessons say of a sentence, filled with numbers, where no trained model is needed for it."""
    for lesson in LESSONS.values():
        for step in lesson.steps:
            try:
                facts = step.facts(subject)
            except ValueError:  # one word has no order; a next token needs a model
                continue
            question = (step.question.asked, step.question.truth) if step.question else ()
            for template in (step.idea, step.do, *question, step.notes.say, step.notes.wrong):
                yield unescape(lessons.filled(lesson, template, facts))


@pytest.mark.parametrize("text", SENTENCES)
def test_products_in_lessons_can_be_redone_from_what_is_printed(text: str) -> None:
    found = [each for said in sentences(Subject(text)) for each in products(said)]
    assert len(found) >= 3, "the score of lesson 2, and two squares"
    for redone, printed, apart in found:
        assert abs(redone - printed) <= apart + 1e-9


@pytest.mark.parametrize("share", [0.0123456, 0.41872, 0.98765, 0.00345])
def test_the_loss_of_the_last_lesson_is_the_logarithm_of_the_printed_share(share: float) -> None:
    step = next(step for step in LESSONS["model"].steps if step.facts is model_facts.surprise)
    said = lessons.filled(LESSONS["model"], step.idea, Facts({"token": "x", "share": share, "loss": -math.log(share)}))
    ((redone, printed, apart),) = products(unescape(said))
    assert abs(redone - printed) <= apart + 1e-9
    assert apart < 0.02, "the share has enough digits"


def test_a_product_of_rounded_factors_is_found() -> None:
    ((redone, printed, apart),) = products(
        "q·k = (−0.3, −1.6, −1.5, 0.7)·(−1.0, −0.9, −1.3, −0.3) = 3.69, its largest score"
    )
    assert abs(redone - printed) > apart


CONFIGS = (Config(), Config(mask="causal", position="rope", qk_norm=True), Config(dropout=0.5, training=True, seed=3))
OPERATIONS = {"×": "*", "−": "-", "÷": "/"}


@pytest.mark.parametrize("config", CONFIGS)
@pytest.mark.parametrize("step", ["project", "scores", "scale", "sum", "output", "residual"])
def test_the_sum_line_of_build_can_be_redone_from_what_is_printed(config: Config, step: str) -> None:
    board = numbers.board(boards(View(run(config)), step)[0], "")
    for r, c in np.ndindex(len(board.cells), len(board.cells[0])):
        cell = board.cells[r][c]
        if cell["v"] is None or any(token[1:] in ("√", "√(") or token.startswith("^") for token in cell["t"]):
            continue
        parts = [OPERATIONS.get(token[1:], token[1:]) if token[0] == "o" else token[1:] for token in cell["t"]]
        terms = [part.strip("()") for part, token in zip(parts, cell["t"], strict=True) if token[0] != "o"]
        redone = eval(" ".join(parts).replace("−", "-"))
        apart = half_a_digit(cell["v"]) if cell["e"] == "≈" else 0.0
        if cell["e"] == "≈":  # each factor is printed to four digits, and multiplied by another
            largest = max(1.0, *(abs(value(term)) for term in terms))
            apart += len(terms) * largest * half_a_digit("0.0000")
        assert abs(redone - value(cell["v"])) <= apart + 1e-9, cell
        shown = board.sheets[-1].text[r][c]
        assert abs(value(cell["v"]) - value(shown)) <= half_a_digit(shown) + 1e-9, "the cell itself has fewer digits"
