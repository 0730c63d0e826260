"""Numbers that visitors read are rounded by one function, and no other formatting rounds them."""

import ast
import pickle
import re
from decimal import ROUND_HALF_UP, Decimal
from fractions import Fraction
from gettext import c2py  # type: ignore[attr-defined]
from pathlib import Path

import numpy as np
import pytest

from attnviz.base.message import Message
from attnviz.base.rounding import Template, format_number
from attnviz.base.words import N_, _, ngettext, say

PACKAGE = Path(__file__).parents[2] / "attnviz"


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


def test_zero_has_no_sign_and_what_is_no_number_stays_as_it_is():
    assert [format_number(x, ".2f") for x in (-0.001, -0.0, 0.004)] == ["0.00", "0.00", "0.00"]
    assert format_number(float("nan"), ".1%") == "nan%"
    assert [format_number(x, "") for x in (0.0625, "a")] == ["0.0625", "a"]
    assert [format_number(x, ".3g") for x in (3.125, 0.0625, 1e-300)] == ["3.13", "0.0625", "1e-300"]


def test_every_sentence_rounds_so():
    template = N_("{share:.1%} of {name}")
    filled = [
        _(template).format(share=1 / 16, name="a"),
        ngettext(template, template, 2).format(share=1 / 16, name="a"),
    ]
    message = Message(template, {"share": np.float32(1 / 16), "name": "a"})
    assert {*filled, str(message), say(message)} == {"6.3% of a"}


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


#: what a program reads, or a terminal's table; coordinates
OTHERS = (
    "app/exports.py", "app/links/", "command/", "figures/label_room.py",
    "models/capture/", "notebook/", "site/", "__main__.py", "maths/generated_code.py", "maths/layer_timing.py",
    "maths/reach_training.py", "build/maths/inputs.py", "base/rounding.py",
)  # fmt: skip


def rounded_otherwise(code: str) -> list[str]:
    """F-strings in `code` that round a number to a few digits themselves."""
    found = []
    for node in ast.walk(ast.parse(code)):
        if not isinstance(node, ast.FormattedValue) or node.format_spec is None:
            continue
        spec = re.sub(r"\{.*?\}", "1", ast.unparse(node.format_spec)[2:-1])
        value = ast.unparse(node.value)
        if re.search(r"\.[0-5][fg%e]$", spec) and not value.startswith("Rounded("):
            found.append(f"{value}:{spec}")
    return found


def test_no_page_rounds_a_number_itself():
    found = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        if not any(part in str(path.relative_to(PACKAGE)) for part in OTHERS):
            found[str(path)] = rounded_otherwise(path.read_text("utf-8"))
    assert {path: each for path, each in found.items() if each} == {}


def test_a_number_rounded_otherwise_is_found():
    assert rounded_otherwise('f"{share:.1%}" f"{x:+.{digits}f}"') == ["share:.1%", "x:+.1f"]
    assert rounded_otherwise('f"{Rounded(share):.1%} {n:,} {x:g} {name}"') == []
