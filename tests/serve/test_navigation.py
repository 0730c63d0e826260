from collections import Counter

from attnviz.serve import navigation, page_table
from tests.pages.conftest import open_page


def test_the_menu_and_the_cards_pack_every_pages_link_once_a_run(monkeypatch):
    packed, pack = Counter(), navigation.link_parameters

    def counting(page):
        packed[page] += 1
        return pack(page)

    monkeypatch.setattr(navigation, "link_parameters", counting)
    page = open_page("home", sentence="A short one")
    assert not page.exception
    assert packed == {row.name: 1 for row in page_table.PAGES}
    page.text_input(key="sentence").set_value("Another one").run()
    assert set(packed.values()) == {2}


def test_both_hold_the_sentence_that_was_typed_just_now():
    page = open_page("home")
    page.text_input(key="sentence").set_value("Another one").run()
    links = [link.proto.query_string for link in page.get("page_link") if link.proto.page.endswith("build")]
    assert len(links) == 2
    assert links[0] == links[1]
    assert "Another" in links[0]
