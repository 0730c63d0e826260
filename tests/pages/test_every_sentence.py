"""Sentences are true where several choices are at their ends at once; `claims` says what one claims wrongly."""

from collections.abc import Iterator
from html import unescape
from typing import Any

import pytest

from attnviz.app.links.choices import choices_of
from attnviz.base.packed import unblob
from attnviz.serve import page_table  # noqa: F401  (declares what can be chosen)
from tests.pages.claims import false_claims
from tests.pages.conftest import canvases_on

Link = dict[str, str]
ONE, FOUR = "cat", "the the the the"
#: pages, and a page's sections, whose words are random vectors without positions: equal words are exactly alike
ALIKE = {"build", "masks", "fast traps", "decoding traps", "positions order"}
#: what turns these pages to another of their sections
TURNING = {"fast": "fast_section", "decoding": "d_view", "positions": "p_section"}
LESSON_STEPS = {"attention": (1, 2, 3, 5), "row": (2, 6), "masks": (1, 2, 4), "model": (1,), "cache": (2, 4)}
#: ends that no control of a section reaches alone, and that were wrong once
TOGETHER = [
    ("scaling", {"s_section": "saturation", "s_keys": "1", "s_dk": "1", "s_more": "true"}),
    ("scaling", {"s_section": "training", "s_steps": "10", "s_seeds": "1", "s_dk": "1"}),
    ("masks", {"m_text": ONE, "m_view": "layers", "m_layers": "1"}),
    ("masks", {"m_text": FOUR, "m_view": "training"}),
    ("positions", {"p_section": "scores", "p_n": "2", "p_width": "2", "p_heads": "1", "p_shift": "0"}),
    ("positions", {"p_section": "order", "p_text": FOUR, "p_kind": "none"}),
    ("positions", {"p_section": "longer", "p_width": "2", "p_trained": "3"}),
    ("positions", {"p_section": "longer", "p_width": "4", "p_method": "linear"}),
    *[
        ("build", {"b_text": "cat", "b_h": heads, "b_g": "1", "b_m": "2", "b_d": "1", "b_step": step})
        for heads, step in (("1", "project"), ("1", "split"), ("2", "split"), ("1", "merge"), ("1", "output"))
    ],
    *[("build", {"b_text": text, "b_pos": "none", "b_step": "softmax"}) for text in (ONE, FOUR)],
    ("build", {"b_text": ONE, "b_step": "two_sources"}),
    ("compare", {"c_section": "reach", "c_reach_n": "4", "c_reach_k": "9", "c_reach_steps": "2"}),
    ("home", {"sentence": ONE}),
    ("home", {"sentence": "猫"}),
    ("fast", {"fast_section": "tiles", "fast_n": "1"}),
    ("fast", {"fast_section": "traps", "fast_trap": "skipped", "fast_text": ONE}),
    ("decoding", {"d_view": "policies", "d_text": "The cat sat on a"}),
    ("sharing", {"h_text": "word", "h_kept": "3"}),
    *[("sharing", {"h_view": view, "h_context": "1"}) for view in ("latent", "count", "size")],
    ("sharing", {"h_view": "count", "h_context": "134217728", "h_batch": "65536"}),
    ("heads", {"hd_model": "minilm-l6", "hd_text": "own", "hd_own": "the cat and the cat"}),
    ("explore", {"text": "word", "open_stages": "1", "open_average": "1", "average": "0.0"}),
    ("compare", {"c_n": "1", "c_heads": "1"}),
    ("decoding", {"d_model": "core", "d_prompt": "a", "d_steps": "1"}),
    *[
        ("lessons", {"lesson": name, "step": str(step), "l_text": ONE, "l_notes": "true"})
        for name, steps in LESSON_STEPS.items()
        for step in steps
    ],
]


def _id(part: Any) -> str:
    return "&".join(part.values()) if isinstance(part, dict) else str(part)


def is_alike(name: str, link: Link) -> bool:
    """Whether all words of the page are exactly alike, or there is only one."""
    section = link.get(TURNING.get(name, ""), "")
    text = [link[choice.name] for choice in choices_of(name) if choice.kept_as and choice.name in link]
    return text in ([ONE], [FOUR]) and not {name, f"{name} {section}".strip()}.isdisjoint(ALIKE)


def sentences_on(page: Any) -> list[str]:
    """What the page says, as a visitor reads it."""
    kinds = (page.markdown, page.caption, page.info, page.warning, page.success, page.error, page.subheader)
    said = [unescape(str(part.value)) for kind in kinds for part in kind]
    said += [f"{part.label}: {part.value}" for part in page.metric]
    said += [box.label for box in page.expander]
    return [text for text in said if not text.lstrip().startswith("<")]


def drawn_on(page: Any) -> list[str]:
    """The texts that canvases were sent, among them templates whose places the browser fills."""
    return [text for canvas in canvases_on(page) for text in _texts(unblob(bytes(canvas.proto.bytes))[0])]


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list | tuple):
        for each in value.values() if isinstance(value, dict) else value:
            yield from _texts(each)


def falsely_claimed(page: Any, name: str, link: Link) -> dict[str, list[str]]:
    """The sentences of a page that claim something wrongly, and what."""
    alike = is_alike(name, link)
    said = {text: false_claims(text, equal=alike) for text in sentences_on(page)}
    said |= {text: false_claims(text, equal=alike, template=True) for text in drawn_on(page)}
    return {text: found for text, found in said.items() if found}


@pytest.mark.parametrize("name, link", TOGETHER, ids=_id)
def test_no_sentence_does_where_several_are_at_their_ends(visit, name, link):
    assert falsely_claimed(visit(name, **link), name, link) == {}
