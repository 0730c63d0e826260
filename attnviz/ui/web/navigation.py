"""The table of pages: one row each, in the order in which one learns. A row is added when its page works."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import streamlit as st

from attnviz.ui.shared import file_of, link_parameters
from attnviz.words import N_, _, languages, tongue


@dataclass(frozen=True)
class PageRow:
    """A page: its module in ui/pages/, and the words that the menu and its card show."""

    name: str
    title: str
    icon: str
    group: str
    question: str

    @property
    def is_home(self) -> bool:
        return self.name == "home"


BEGIN, UNDERSTAND, LOOK = N_("Begin"), N_("Understand"), N_("Look for yourself")

ABREAST = 3  #: cards in a row of the start page, where there is room
LINKS = "page_links"  #: where a session keeps the parameters of every page's link, as of this run

ROWS = [
    PageRow("home", N_("Start"), ":material/visibility:", BEGIN, N_("What is attention?")),
    PageRow(
        "lessons",
        N_("Lessons"),
        ":material/school:",
        BEGIN,
        N_("What is attention, how is it computed, and why like this? Eight lessons, step by step."),
    ),
    PageRow(
        "build",
        N_("Build"),
        ":material/calculate:",
        UNDERSTAND,
        N_("How do words become queries, keys, values and an output, number by number?"),
    ),
    PageRow(
        "scaling",
        N_("Scaling"),
        ":material/straighten:",
        UNDERSTAND,
        N_("Why are scores divided by √d_k, and what happens to softmax, gradients and training without it?"),
    ),
    PageRow(
        "heads",
        N_("Heads"),
        ":material/grid_view:",
        UNDERSTAND,
        N_("Which head does what, over many sentences, and what does it cost to take it away?"),
    ),
    PageRow(
        "masks",
        N_("Masks"),
        ":material/grid_on:",
        UNDERSTAND,
        N_("Who may look at whom, what does a mask leave of attention, and how do masks go wrong?"),
    ),
    PageRow(
        "positions",
        N_("Positions"),
        ":material/explore:",
        UNDERSTAND,
        N_("How does attention know which word comes first, and what happens beyond the length it was trained on?"),
    ),
    PageRow(
        "decoding",
        N_("Decoding"),
        ":material/fast_forward:",
        UNDERSTAND,
        N_("What does a KV cache hold and save, token by token, and what happens when it is made smaller?"),
    ),
    PageRow(
        "sharing",
        N_("Share heads"),
        ":material/account_tree:",
        UNDERSTAND,
        N_("What do GQA, MQA and MLA save, what do they cost, and does my model fit?"),
    ),
    PageRow(
        "explore",
        N_("Explore"),
        ":material/search:",
        LOOK,
        N_("Where does each head of a real model look, and what changes when I change its mask or its scale?"),
    ),
    PageRow(
        "pictures",
        N_("Pictures"),
        ":material/image:",
        LOOK,
        N_("Where does each patch of a picture look, and what does a model say when I hide some of them?"),
    ),
    PageRow(
        "compare",
        N_("Compare"),
        ":material/balance:",
        LOOK,
        N_("What does attention buy, and what does it cost, beside a recurrence and a convolution?"),
    ),
    PageRow(
        "glossary",
        N_("Glossary"),
        ":material/menu_book:",
        LOOK,
        N_("What do the words mean: key, head, logit, nat, KV cache, GQA?"),
    ),
]


def pages() -> dict[str, list[Any]]:
    """Streamlit's pages by group, titled in the visitor's language; each run has its own, which it may run once."""
    groups: dict[str, list[Any]] = {}
    for row in ROWS:
        groups.setdefault(_(row.group), []).append(copy.copy(_made(tongue())[row.name]))
    return groups


@lru_cache(maxsize=len(languages()))
def _made(_language: str) -> Mapping[str, Any]:
    """Each page by its name, made once for a language: Streamlit looks for its file, folder by folder, each time."""
    return {
        row.name: st.Page(
            file_of(row.name),
            title=_(row.title),
            icon=row.icon,
            url_path=None if row.is_home else row.name,
            default=row.is_home,
        )
        for row in ROWS
    }


def menu() -> None:
    """Draw the pages in the sidebar. Each link opens its page as it was left, in this tab or in a new one."""
    st.session_state[LINKS] = {row.name: link_parameters(row.name) for row in ROWS}  # packed once a run
    with st.sidebar:
        for at, group in enumerate(dict.fromkeys(row.group for row in ROWS)):
            with st.container(gap=None, key=f"menu-of-{at}"):
                st.caption(_(group))
                for row in ROWS:
                    if row.group == group:
                        _link(row, _(row.title))


def cards() -> None:
    """Where to go from the start page, in the order in which one learns, each with its question. After `menu`."""
    st.markdown("**" + _("Where to go from here, in the order in which one learns") + "**")
    rows = [row for row in ROWS if not row.is_home]
    for at in range(0, len(rows), ABREAST):
        for column, row in zip(st.columns(ABREAST, gap="small"), rows[at : at + ABREAST], strict=False):
            with column, st.container(border=True, gap="xxsmall", height="stretch"):
                _link(row, f"**{_(row.title)}**")
                st.caption(_(row.question))


def _link(row: PageRow, label: str) -> None:
    page, parameters = _made(tongue())[row.name], st.session_state[LINKS][row.name]
    st.page_link(page, label=label, icon=row.icon, query_params=parameters, width="stretch")
