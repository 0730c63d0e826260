"""Every computed sentence is true for one word, for equal words, and at both ends of each control.

Each section of each page is opened as it is, with all numbers at their least and one word, with all numbers at their
largest and four equal words, and once for each option of its boxes; `claims` says what its sentences claim wrongly.
"""

from collections.abc import Callable, Iterator
from html import unescape
from typing import Any

import pytest

from attnviz.app.links.choices import Choice, page_choices
from attnviz.base.packed import unpack_blob
from attnviz.pages.lessons.panels.open_lesson import LESSONS
from attnviz.pages.why.maths import two_prompts
from attnviz.serve import page_table  # noqa: F401  (declares what can be chosen)
from tests.pages.claims import false_claims
from tests.pages.conftest import canvases_on

Link = dict[str, str]
CONTROLS = (
    "text_input", "text_area", "number_input", "slider", "select_slider", "selectbox", "multiselect", "radio",
    "toggle", "checkbox", "button_group",
)  # fmt: skip
ONE, FOUR = "cat", "the the the the"

#: the steps of the walk that a link can name; the others stand in it only under other choices
BUILD_STEPS = ("embed", "project", "split", "scores", "scale", "softmax", "sum", "merge", "output", "ffn")
#: what turns a page to another of its sections
TURNING = {
    "born": "born_section", "compare": "c_section", "decoding": "d_view", "fast": "fast_section",
    "positions": "p_section", "scaling": "s_section", "sharing": "h_view", "why": "why_section",
}  # fmt: skip
#: the texts of choices that hold no sentence of one or of four words
TEXTS = {
    "s_scores": ("[1]", "[1, 1, 1, 1]"), "pic_digits": ("11", "000"), "d_text": ("cat sat", FOUR),
    "born_words": (ONE, FOUR), "d_prompt": (ONE, FOUR), "hd_own": (ONE, FOUR),
}  # fmt: skip
#: what takes long at its end: less of it instead
ENOUGH = {
    "s_dk": 1024, "s_keys": 512, "s_pairs": 10_000, "s_steps": 10, "s_seeds": 2, "p_n": 64, "p_width": 128,
    "p_times": 4, "p_heights": 8, "p_widths": 8, "fast_n": 128, "c_places": 16,
    "h_tokens": 512, "h_live_d_model": 64, "h_live_n_heads": 4, "h_live_n_kv_heads": 4, "h_live_tokens": 64,
    "fast_answer": 16, "fast_shared": 64, "fast_requests": 3, "d_steps": 3, "hd_count": 2, "hd_costs_on": 1,
}  # fmt: skip
#: of a box with many alike, or with models that are loaded: these
FEW: dict[str, tuple[str, ...]] = {
    "h_columns": ("deepseek-v3",), "h_model": ("gpt2", "deepseek-v3"), "fast_gpu": (), "h_gpu": (), "d_machine": (),
    "hd_against": (), "hd_by": ("silenced",), "by": ("entropy",), "m_rule2": ("random",),
    "mistake": (), "pic_from": ("photo",), "s_beside": ("softcap", "sink"), "b_dv": ("1",),
}  # fmt: skip
#: what a section is opened with each time, so that it is drawn soon
SOON: dict[str, Link] = {
    "scaling training": {"s_steps": "10", "s_seeds": "1"}, "decoding steps": {"d_model": "core", "d_steps": "2"},
    "decoding numbers": {"d_model": "core"}, "decoding policies": {"d_text": "The cat sat on a"},
    "why circuit": {"why_text": "cat sat", "why_other": "dog sat"},
    "why patches": {"why_text": "cat sat", "why_other": "dog sat"},
}  # fmt: skip
#: sections whose words are random vectors without positions: equal words are exactly alike
ALIKE = {"build", "masks", "mistakes", "positions order"}

#: ends that no control of a section reaches alone, and that were wrong once
TOGETHER = [
    ("scaling", {"s_keys": "1", "s_dk": "1", "s_more": "true"}),
    ("positions", {"p_section": "scores", "p_n": "2", "p_width": "2", "p_heads": "1", "p_shift": "0"}),
    ("positions", {"p_text": FOUR}),
    *[
        ("build", {"b_text": "cat", "b_h": heads, "b_g": "1", "b_m": "2", "b_d": "1", "b_step": step})
        for heads, step in (("1", "project"), ("1", "split"), ("2", "split"), ("1", "merge"), ("1", "output"))
    ],
    *[("build", {"b_text": text, "b_pos": "none", "b_step": "softmax"}) for text in (ONE, FOUR)],
    ("build", {"b_text": ONE, "b_step": "two_sources"}),
    ("home", {"sentence": ONE}),
    ("mistakes", {"mistake": "skipped", "guess": "skipped.0", "mi_text": ONE}),
    *[("sharing", {"h_view": view, "h_context": "1"}) for view in ("latent", "count", "size")],
    ("heads", {"hd_model": "minilm-l6", "hd_text": "own", "hd_own": "the cat and the cat"}),
    ("explore", {"text": "word", "open_stages": "1", "open_average": "1", "average": "0.0"}),
    ("decoding", {"d_model": "core", "d_prompt": "a", "d_steps": "1"}),
]


def sections() -> list[tuple[str, Link]]:
    """Each page with a link to each of its sections."""
    found: list[tuple[str, Link]] = [
        (name, {}) for name in ("home", "heads", "explore", "masks", "pictures", "glossary")
    ]
    found += [("mistakes", {"mistake": name, "guess": f"{name}.0"}) for name in ("softmax_first", "top_left")]
    found += [("build", {"b_step": step}) for step in BUILD_STEPS]
    for name, turning in TURNING.items():
        ids = next(choice.ids for choice in page_choices(name) if choice.name == turning)
        found += [(name, {turning: each} | SOON.get(f"{name} {each}", {})) for each in ids]
    return found


def walk(visit: Callable[..., Any], name: str, section: Link) -> Iterator[tuple[Link, Any]]:
    """The section as it is, at the least and at the largest of everything, and with each option: links and pages."""
    page = visit(name, **section)
    yield section, page
    shown = [choice for choice in controls_on(page, name) if choice.name not in section]
    ways = {choice.name: ends(choice) for choice in shown}
    numbers = [choice.name for choice in shown if choice.kind in ("whole", "real", "text") and ways[choice.name]]
    for at in range(2) if numbers else ():
        link = section | {each: ways[each][at] for each in numbers}
        yield link, visit(name, **link)
    is_later = name == "build" and section["b_step"] != BUILD_STEPS[0]  # an earlier section has the same boxes
    boxes = {choice.name: ways[choice.name] for choice in shown if choice.name not in numbers and not is_later}
    for at in range(max(map(len, boxes.values()), default=0)):
        link = section | {each: options[at] for each, options in boxes.items() if at < len(options)}
        yield link, visit(name, **link)


def ends(choice: Choice[Any]) -> list[str]:
    """What a link says to set this choice to its least and its largest value, or to each of its other options."""
    if choice.name in FEW:
        return list(FEW[choice.name])
    if choice.kind == "id":
        return [each for each in choice.ids if each != choice.default]
    if choice.kind in ("whole", "real") and "seed" not in choice.name:
        high = min(choice.high, ENOUGH.get(choice.name, choice.high))
        return [choice.write(type(choice.example)(end)) for end in (choice.low, high)]
    if choice.kind == "flag":
        return [choice.write(not choice.default)]
    if choice.kind == "text":
        return list(TEXTS.get(choice.name, (ONE, FOUR) if choice.shared_key else ()))
    return []


def controls_on(page: Any, name: str) -> list[Choice[Any]]:
    """The page's choices whose controls are on show."""
    declared = {choice.name: choice for choice in page_choices(name) if choice.page == name}
    shown = dict.fromkeys(name_in_link(part) for part in _below(page.main) if part.type in CONTROLS)
    return [declared[each] for each in shown if each in declared]


def is_alike(name: str, link: Link) -> bool:
    """Whether all words of the page are exactly alike, or there is only one."""
    section = link.get(TURNING.get(name, ""), "")
    text = [link[choice.name] for choice in page_choices(name) if choice.shared_key and choice.name in link]
    return text in ([ONE], [FOUR]) and not {name, f"{name} {section}".strip()}.isdisjoint(ALIKE)


def sentences_on(page: Any) -> list[str]:
    """What the page says, as a visitor reads it."""
    kinds = (page.markdown, page.caption, page.info, page.warning, page.success, page.error, page.subheader)
    said = [unescape(str(part.value)) for kind in kinds for part in kind]
    said += [f"{part.label}: {part.value}" for part in page.metric]
    said += [box.label for box in page.expander]
    return [text for text in said if not text.lstrip().startswith("<")]


def drawn_on(page: Any) -> list[str]:
    """The texts that canvases were sent, among them templates whose places the browser fills; no lines of programs."""
    headers = [unpack_blob(bytes(canvas.proto.bytes))[0] for canvas in canvases_on(page)]
    return [text for header in headers for text in _texts(header | {"lines": None})]


def name_in_link(element: Any) -> str:
    """The control's name in the link: the parameter that it is bound to, or else its key."""
    bound = getattr(getattr(element, "proto", None), "query_param_key", "")
    return str(bound or getattr(element, "key", "") or "")


def _below(block: Any) -> Iterator[Any]:
    """All elements of a page, in order."""
    for child in block.children.values():
        yield child
        if hasattr(child, "children"):
            yield from _below(child)


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list | tuple):
        for each in value.values() if isinstance(value, dict) else value:
            yield from _texts(each)


def _id(part: Any) -> str:
    return "&".join(part.values()) if isinstance(part, dict) else str(part)


def falsely_claimed(page: Any, name: str, link: Link) -> dict[str, list[str]]:
    """The sentences of a page that claim something wrongly, and what."""
    alike = is_alike(name, link)
    said = {text: false_claims(text, equal=alike) for text in sentences_on(page)}
    said |= {text: false_claims(text, equal=alike, template=True) for text in drawn_on(page)}
    return {text: found for text, found in said.items() if found}


@pytest.mark.slow
@pytest.mark.parametrize("name, section", sections(), ids=_id)
def test_no_sentence_claims_what_is_not_so_at_the_ends_of_any_control(visit, monkeypatch, name, section):
    monkeypatch.setattr(two_prompts, "MAX_EXACT_CELLS", 9)  # each cell, and each size of a circuit, is a pass
    monkeypatch.setattr(two_prompts, "measured_sizes", lambda parts: (0, 1, 6, parts))
    wrong = {_id(link): falsely_claimed(page, name, link) for link, page in walk(visit, name, section)}
    assert {link: found for link, found in wrong.items() if found} == {}


#: each step of each lesson, with one word or with four alike
OF_LESSONS = [
    pytest.param(
        "lessons", {"lesson": name, "step": str(step), "l_text": text, "l_notes": "true"}, marks=pytest.mark.slow
    )
    for name, lesson in LESSONS.items()
    for step, text in zip(range(1, len(lesson.steps) + 1), (FOUR, ONE) * len(lesson.steps), strict=False)
]


@pytest.mark.parametrize("name, link", [*TOGETHER, *OF_LESSONS], ids=_id)
def test_no_sentence_does_in_a_lesson_or_where_several_are_at_their_ends(visit, name, link):
    assert falsely_claimed(visit(name, **link), name, link) == {}
