"""Numbers that visitors read are rounded by one function, and no other formatting rounds them."""

import pickle
from decimal import ROUND_HALF_UP, Decimal
from fractions import Fraction
from gettext import c2py  # type: ignore[attr-defined]

import numpy as np
import pytest

from attnviz.base.message import Message
from attnviz.base.rounding import Template, format_number
from attnviz.base.words import N_, _


@pytest.mark.parametrize("digits", [0, 1, 2])
@pytest.mark.parametrize("denominator", [3, 8, 16, 40, 80, 128, 400, 1000])
def test_a_share_is_rounded_as_its_fraction_is(denominator, digits):
    """Halves are exact in the fraction, wherever its float32 lies; Decimal divides it with 50 digits."""
    for number in range(1, denominator):
        percent = Decimal(100 * number) / denominator
        wanted = f"{percent.quantize(Decimal(1).scaleb(-digits), ROUND_HALF_UP)}%"
        if Decimal(wanted[:-1]) in (0, 100):
            wanted = (
                f"<{10.0**-digits:.{digits}f}%" if number < denominator / 2 else f">{100 - 10.0**-digits:.{digits}f}%"
            )
        share = float(Fraction(number, denominator))
        assert {format_number(each, f".{digits}%") for each in (share, np.float32(share))} == {wanted}


def test_all_and_nothing_are_said_only_where_they_are_exact():
    said = [format_number(x, ".1%") for x in (0, 1e-9, 0.9996, 1 - 1e-15, 1, -1e-9)]
    assert said == ["0.0%", "<0.1%", ">99.9%", "100.0%", "100.0%", ">-0.1%"]


def test_a_counted_noun_is_chosen_by_its_number():
    template = N_("{n} {n:token|tokens} of {name}")
    filled = [_(template).format(n=n, name="a") for n in (0, 1, np.int64(1), 2)]
    assert filled == ["0 tokens of a", "1 token of a", "1 token of a", "2 tokens of a"]
    assert str(Message(template, {"n": 1, "name": "a"})) == "1 token of a"


def test_a_language_with_three_forms_chooses_by_its_own_rule():
    polish = c2py("n==1 ? 0 : n%10>=2 && n%10<=4 && (n%100<12 || n%100>14) ? 1 : 2")
    template = Template("{n} {n:słowo|słowa|słów}", polish)
    assert [template.format(n=n) for n in (1, 3, 5, 22)] == ["1 słowo", "3 słowa", "5 słów", "22 słowa"]
    assert pickle.loads(pickle.dumps(template)) == template
