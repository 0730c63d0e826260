"""What is rarely chosen stands behind one menu of a page, and what is set there is said beside it."""

import pytest
from streamlit.testing.v1 import AppTest

from attnviz.app.text import unmarked
from attnviz.serve.page_table import MAIN

#: a page with a section of it, what a link sets in its menu, and what is then said
SET = {
    "scaling": (
        {"s_pairs": "5000", "s_components": "heavy-tailed", "s_seed": "3"},
        "Pairs of q and k: 5,000 · Seed: 3",
    ),
    "positions": ({"p_section": "circle", "p_base": "500"}, "Base b: 500"),
    "masks": ({"m_seed": "7"}, "Vectors: random, seed: 7"),
    "build": ({"b_qknorm": "true", "b_seed": "5"}, "Normalise Q and K: on · Random seed: 5"),
    "heads": ({"hd_other": "minilm-l6"}, "Model beside it: "),
}


def opened(name: str, link: dict[str, str]) -> AppTest:
    app = AppTest.from_file(str(MAIN), default_timeout=120)
    app.switch_page(f"../pages/{name}/{name}.py")
    for key, value in link.items():
        app.query_params[key] = value
    return app.run()


@pytest.mark.parametrize("name", SET)
def test_what_is_set_in_a_closed_menu_is_said_and_what_is_usual_is_not(name):
    link, said = SET[name]
    page = opened(name, link)
    assert any(said in unmarked(each.value) for each in page.caption)
    assert not [each for each in page.number_input if "seed" in each.key], "it is drawn once the menu is open"
    usual = opened(name, {key: value for key, value in link.items() if "section" in key})
    assert not any(said in unmarked(each.value) for each in usual.caption)


def test_what_a_closed_menu_cannot_use_is_said_beside_it():
    page = opened("build", {"b_g": "3"})
    assert any(
        "“3” does not exist here (“Key/value heads” in the link)" in unmarked(each.value) for each in page.caption
    )
