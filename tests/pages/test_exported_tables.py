"""What leaves as CSV is what is seen: numbers that can be read back, and places where words repeat."""

import csv
import io
import re
from functools import cache

import pytest

from attnviz.app.exports import to_csv
from attnviz.app.links.choices import page_choices
from attnviz.serve.headless import AppLink, run_page
from attnviz.serve.page_table import PAGES

SECTIONS = ("s_section", "p_section", "c_section", "d_view", "h_view", "b_ask")
#: what makes the longest computations short
SHORT = {("s_section", "training"): {"s_steps": "20", "s_seeds": "2"}, ("d_view", "numbers"): {"d_model": "core"}}
#: what a spreadsheet would not take for a number
WITH_UNIT = re.compile(r"-?[\d.,]+(e-?\d+)? ?(%|[KMGT]i?B|bytes|nats?|s|ms|µs|[MGT]?FLOPS?|×)|-?\d{1,3}(,\d{3})+", re.I)
#: a short number that lost its last bits on the way, as in 0.699999988079071
TAIL = re.compile(r"-?\d*\.?\d*?(0{6,}|9{6,})\d+(e-?\d+)?")


def links() -> list[AppLink]:
    found = []
    for row in PAGES:
        sections = [each for each in page_choices(row.name) if each.name in SECTIONS]
        views = [{each.name: id} | SHORT.get((each.name, id), {}) for each in sections for id in each.ids] or [{}]
        found += [AppLink(row.name, view) for view in views]
    return found


@cache
def tables(number: int) -> dict[str, list[list[str]]]:
    """The rows of each table that the view offers, by the figure's name."""
    offers = run_page(links()[number]).offers
    made = {offer.file_name: offer.table() if callable(offer.table) else offer.table for offer in offers}
    return {name: list(csv.reader(io.StringIO(to_csv(table)))) for name, table in made.items() if table is not None}


@pytest.mark.parametrize("number", range(len(links())), ids=[f"{one.page}-{one.parameters}" for one in links()])
def test_each_exported_number_can_be_read_back_and_equal_words_are_told_apart_by_their_place(number):
    faults = []
    for name, (head, *rows) in tables(number).items():
        faults += [(name, cell) for row in rows for cell in row if _is_faulty(cell)]
        if len(set(map(tuple, rows))) < len(rows):
            faults.append((name, "rows that cannot be told apart"))
        for title, *column in zip(head, *rows, strict=True):
            if len({_is_number(cell) for cell in column if cell}) > 1:
                faults.append((name, f"numbers and words below {title}"))
    assert not faults


def _is_faulty(cell: str) -> bool:
    return bool(WITH_UNIT.fullmatch(cell) or (len(cell) > 14 and "." in cell and TAIL.fullmatch(cell)))


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True
