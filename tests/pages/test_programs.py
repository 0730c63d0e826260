"""What leaves a page: programs that print its numbers as they are shown, and tables that can be read back."""

import csv
import html
import io
import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import parse_qsl

import pytest

from attnviz.app.exports import to_csv
from attnviz.app.links.choices import page_choices
from attnviz.serve.headless import AppLink, run_page
from attnviz.serve.page_table import PAGES
from tests.pages.conftest import offers, ran, said, with_code

#: a page, what its link sets, and the share of the printed numbers that are to be found at least
LINKS = [
    ("scaling", "s_dk=1000 s_pairs=9000 s_seed=3 s_components=uniform", 0.3),
    ("scaling", "s_more=true s_dk=64 s_keys=300", 0.4),
    ("scaling", "s_section=training s_steps=10 s_seeds=2 s_dk=8 s_optimizer=adam", 0.9),
    ("scaling", "s_section=alternatives s_dk=300 s_keys=9 s_alternative=softcap s_softcap=3", 0.3),
    ("scaling", "s_section=head s_model=minilm-l6 s_layer=2 s_head=5 s_factor=0.5", 0.9),
    ("scaling", "s_section=softmax s_T=0.5 s_block=3", 0.5),
    ("sharing", "h_kept=9 h_scope=all", 0.9),
    ("sharing", "h_view=count h_model=qwen3-next-80b-a3b h_context=5000 h_batch=3", 0.9),
    ("sharing", "h_view=size h_model=gemma-3-27b h_cache=int4 h_weights=q4_0 h_as=paged", 0.8),
    ("sharing", "h_view=latent h_context=4096 h_mla=deepseek-v2", 0.7),
    ("positions", "p_section=scores", 0.7),
    ("positions", "p_section=circle", 0.9),
    ("positions", "p_section=longer", 0.9),
    ("positions", "p_section=video", 0.1),
    ("decoding", "d_view=steps d_model=core d_steps=2", 0.5),
    ("decoding", "d_view=bytes", 0.6),
    ("decoding", "d_view=policies d_model=core", 0.9),
    ("decoding", "d_view=numbers d_model=core", 0.3),
    ("masks", "m_rule1=window", 0.5),
    ("compare", "", 0.9),
    ("compare", "c_section=shared", 0.6),
    ("fast", "", 0.9),
    ("fast", "fast_section=cost", 0.9),
    ("fast", "fast_section=paged", 0.6),
    ("explore", "text=The+cat+sat mask=none", 0.5),
]
NUMBER = re.compile(r"-?\d[\d,]*(?:\.\d+)?(?:e[-+]?\d+)?")
#: a page says shares in percent, and bytes and FLOPs in larger units
UNITS = (1, 100, 2**-10, 2**-20, 2**-30, 1e3, 1e-3, 1e-6, 1e-9, 1e-12)


def numbers(text: str) -> set[float]:
    """The numbers of two digits and more in a text."""
    found = {each.strip(",") for each in NUMBER.findall(text.replace("−", "-"))}
    return {float(each.replace(",", "")) for each in found if len(re.sub(r"[-.,]|e.*", "", each).strip("0")) > 1}


def shown(page: Any) -> Iterator[str]:
    """All texts of a page that hold numbers, and the tables that it exports."""
    yield html.unescape(said(page))
    yield from (part.value for part in (*page.metric, *page.latex))
    yield from (
        html.unescape(str(cell)) for part in (*page.table, *page.dataframe) for cell in part.value.to_numpy().ravel()
    )
    for offer in offers(page):
        table = offer.table() if callable(offer.table) else offer.table
        if table is not None:
            yield to_csv(table).replace(",", " ")  # else two cells read as one number


@pytest.mark.slow
@pytest.mark.parametrize("name, text, share", LINKS, ids=[f"{name} {text}" for name, text, _ in LINKS])
def test_a_program_prints_what_its_page_shows(visit: Any, name: str, text: str, share: float) -> None:
    page = with_code(visit(name, **dict(parse_qsl(text.replace(" ", "&")))))
    printed = set().union(*(numbers(ran(program.value)[1]) for program in page.code))
    there = numbers(" ".join(shown(page)))
    found = [
        each for each in printed if any(abs(each * unit - one) <= 0.006 * abs(one) for one in there for unit in UNITS)
    ]
    assert len(found) >= share * len(printed) > 0, sorted(printed - set(found))


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


@pytest.mark.parametrize("number", range(len(links())), ids=[f"{one.page}-{one.parameters}" for one in links()])
def test_each_exported_number_can_be_read_back_and_equal_words_are_told_apart_by_their_place(number):
    faults = []
    for offer in (each.prepare() for each in run_page(links()[number]).offers):  # its figure can be made, too
        name = offer.file_name
        if not offer.title:
            faults.append((name, "no title"))
        if offer.table is None:
            continue
        head, *rows = csv.reader(io.StringIO(to_csv(offer.table)))
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
