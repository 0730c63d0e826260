"""Every page, section, step and menu is walked, in a language whose words are 40% longer than English.

Each word can be translated; none is cut or laid over another, on a projector and on a phone; axe finds no fault, in the
one theme and the other from view to view. The picture begins on the first screen; presented, it fills the room. What is
walked follows the declarations: a page, a section or a lesson's picture that is added is, too.
"""

import re
from collections.abc import Callable, Iterable
from functools import cache
from itertools import cycle, groupby

import pytest
from playwright.sync_api import expect

from attnviz.analysis.model_run import Request, run_model
from attnviz.app.links.choices import page_choices
from attnviz.base.words import LOCALE_DIR
from attnviz.models.loading import EXAMPLES, load
from attnviz.pages.decoding import choices as decoding_choices
from attnviz.pages.decoding.maths import decoders, token_by_token
from attnviz.pages.explore.maths.why_there import EXAMPLES as CELL_EXAMPLES
from attnviz.pages.heads.maths.sentence_sets import single_token_words
from attnviz.pages.why.maths import parts
from attnviz.pages.why.maths.parts import CONTRASTS
from attnviz.serve import page_table
from scripts import languages
from tests.browser import longer_words
from tests.browser.allowed_english import ALLOWED, NAMES, is_streamlits
from tests.browser.axe_faults import severe
from tests.browser.conftest import another_view, answered, at_rest, resized, still, windows
from tests.browser.every_view import page_of, views
from tests.browser.layout_faults import layout_faults
from tests.browser.picture_first import PICTURE, begins_low, is_a_picture, out_of_room, small_letters
from tests.browser.shown_words import DRAWN, said_on, unfolded
from tests.waiting import until

WORD = re.compile(r"(?<![\w.\-_/=])[A-Za-z][A-Za-z'’]++(?![\w/=…])")
#: A token of the visitor's is a part of a word: "ired" of "tired".
VISITORS = " ".join(
    [
        *(example.text + " " + example.second for example in EXAMPLES),
        *(example.text for example in CELL_EXAMPLES),
        *(
            str(choice.default)
            for row in page_table.PAGES
            for choice in page_choices(row.name)
            if choice.kind == "text" and choice.default
        ),
    ]
).lower()
WALKS = {name: list(held) for name, held in groupby(sorted(views(), key=page_of), page_of)}
CHINESE = {
    each.id: each.string for each in languages.read(LOCALE_DIR / "zh.po") if each.id and isinstance(each.id, str)
} | longer_words.lessons_in_chinese()
#: what a page says, and what it would say in Chinese
OF_LONGER = {longer_words.longer(text): chinese for text, chinese in CHINESE.items()}
ALL_LONGER = "\n".join(OF_LONGER)
#: each group shares a server and a window, and so one test process; who walks further has longer
IN_TWO_GROUPS = [
    pytest.param(
        name, marks=[pytest.mark.xdist_group(f"every-view-{i % 2}"), pytest.mark.timeout(200 + 100 * len(walk))]
    )
    for i, (name, walk) in enumerate(WALKS.items())
]
SIZES = [(1280, 720), (390, 844)]
#: views with a formula that is longer than a phone is wide, and is scrolled in its place
SCROLLED = {"build?b_ask=picture"}
#: views that have letters too small for the last row where they are presented
SMALL = {"positions?p_section=video", "compare?c_section=shared", "mistakes?mistake=group_num&guess=group_num.3"}


@cache
def random_words() -> frozenset[str]:
    """Of which the texts on Heads are made, for the model that the page opens with."""
    return frozenset(single_token_words(load("smollm2-135m")))


@cache
def words_of_answers() -> frozenset[str]:
    """What Why this token? quotes as it opens: its prompts, what may come next, and what each layer would say."""
    example, loaded = CONTRASTS[0], load("smollm2-135m")
    read = run_model(Request("smollm2-135m", example.text), loaded)
    said = [each.label for each in parts.likely_tokens(read, loaded)]
    said += parts.run(read, loaded, parts.TokenQuestion()).likeliest
    said += (example.text, example.second_prompt, example.token, example.versus)
    return frozenset(WORD.findall(" ".join(said)))


@cache
def words_of_steps() -> frozenset[str]:
    """What Decoding's player says may come next at any step: it draws those that it passes."""
    config = token_by_token.Config(decoding_choices.PROMPT.default, decoding_choices.STEPS.default)
    *_partial, run = token_by_token.run(decoders.ModelDecoder(load("smollm2-135m")), config)
    return frozenset(WORD.findall(" ".join(label for step in run.steps for label, *_rest in step.alternatives)))


def of_the_page(name: str, view: str, word: str) -> bool:
    """Whether the word is quoted: from the link, by a refusal, from random texts, or from what a model answers."""
    return word in view or word in (
        {"heads": random_words, "why": words_of_answers, "decoding": words_of_steps}.get(name, frozenset)()
    )


def is_cut(text: str) -> bool:
    """Whether a name or a sentence begins with this text and goes on: a cell of a table cuts what is long."""
    goes_on = re.compile(f"^{re.escape(text)}[A-Za-z]", re.M)
    return any(name.startswith(text) for name in NAMES) or goes_on.search(ALL_LONGER) is not None


def english_in(texts: Iterable[str]) -> dict[str, str]:
    """Each English word that is not allowed, and a text that it stands in."""
    found: dict[str, str] = {}
    for text in (text.replace("\u00a0", " ") for text in texts):  # a table keeps a number with its unit
        rest = text
        for name in NAMES:
            rest = rest.replace(name, " ")
        words = [word for word in WORD.findall(rest) if word not in ALLOWED and word.lower() not in VISITORS]
        if words and not (is_streamlits(text) or is_cut(text)):
            found |= {word: text[:160] for word in words if word not in found}
    return found


def arrive(page, url: str, view: str) -> None:
    """Open a view in the longer language; where the page is open already, without loading it again."""
    address = f"{url}/{view}{'&' if '?' in view else '?'}lang={longer_words.NAME}"
    here = page.url.split("?")[0] == address.split("?")[0]
    if here and "present" not in view + page.url and not view.startswith("lessons"):  # these begin at a step of theirs
        another_view(page, address)
    else:
        page.goto(address)
    at_rest(page, *[PICTURE] * is_a_picture(view))


def menus(page, met: set[str]) -> set[str]:
    """What stands in the menus of the page, each opened once in a walk: `met` names those that were."""
    said: set[str] = set()
    body = page.locator("[data-testid=stPopoverBody]")
    for button in page.locator("[data-testid=stPopover] button:visible").all():
        name = button.inner_text()
        if name in met:
            continue
        met.add(name)
        button.click()
        body.first.wait_for()
        answered(page)
        said |= said_on(page)
        button.evaluate("it => it.click()")  # on a phone what opens may lie over its button
        until(lambda: not body.count() or page.keyboard.press("Escape"))  # a page made anew meanwhile opens it again
    return said


@pytest.fixture(scope="module")
def window(browser):
    """One for all pages, in which nothing is waited for that only moves: a browser keeps what it has compiled."""
    with windows(browser) as make:
        page = make(*SIZES[0], reduced_motion="reduce")
        page.add_init_script(DRAWN)
        yield page


def lasting(page, theme: str, find: Callable[[], list[str]]) -> list[str]:
    """Faults that are still there when the page has come to rest once more: a button fades, a chart follows."""
    found = find()
    if found:
        still(page, theme)
        found = find()
    return found


@pytest.mark.parametrize("name", IN_TWO_GROUPS)
def test_every_word_of_a_page_can_be_translated_has_room_and_is_read_by_all(server_url, window, name):
    page, met, sizes = window, set[str](), list(SIZES)
    said: dict[str, str] = {}
    faults: dict[str, str] = {}
    for view, theme in zip(WALKS[name], cycle(["light", "dark"])):
        page.mouse.move(0, 0)  # a button that is pointed at has another frame
        page.emulate_media(color_scheme=theme)
        arrive(page, server_url, view)
        for size in sizes:
            resized(page, *size, theme)
            found = lasting(page, theme, lambda: layout_faults(page))
            if is_a_picture(view):
                found += begins_low(page, size)
            if size == SIZES[0]:
                found += lasting(page, theme, lambda: severe(page))
                if is_a_picture(view) and name != "pictures":  # its buttons take a line more: test_pictures.py asks it
                    found += out_of_room(page, theme)
                if "present=1" in view:
                    found += small_letters(page)
            for fault in found:
                known = fault.startswith("formula") and view in SCROLLED
                if not (known or (fault.startswith("presented in small") and view in SMALL)):
                    faults.setdefault(fault, f"{view} at {size[0]}, {theme}")
        sizes.reverse()  # the next view opens at the size that the window has now
        unfolded(page)
        still(page, theme)
        texts = said_on(page) | menus(page, met)
        texts |= {OF_LONGER[text] for text in texts if text in OF_LONGER}
        for word, text in english_in(texts).items():
            if not of_the_page(name, view, word):
                said.setdefault(word, f"{view}: {text}")
    assert (said, faults) == ({}, {}), "English that no catalogue has, and what stands or is read badly"


def test_english_is_found_and_a_box_that_unfolds_speaks_the_language_that_was_just_chosen(opened):
    page = opened("masks?m_rule1=padding", locale="en-GB")
    assert len(english_in(said_on(page))) > 50
    box = page.locator("[data-testid=stSelectbox] input").first
    expect(box).to_have_value("padding")
    page.get_by_text("中文").click()
    expect(box).to_have_value("填充")
    assert "m_rule1=padding" in page.url
    still(page)
    assert english_in(said_on(page)) == {}
