"""Where there is one of a thing, no page says "1 keys": pages at links that make their counts one."""

import re
from collections.abc import Iterator
from html import unescape
from typing import Any

import pytest

from attnviz.canvas.shared.packing import unblob
from tests.pages.conftest import canvases_on

#: words after "1" that end like a plural and are none
NO_PLURALS = "as|bias|class|does|goes|has|is|its|less|loss|makes|pass|plus|takes|this|was|gives|gets|stands|times"
BAD = re.compile(
    rf"(?<![\d.,×·−/=-])(?<!= )\b1 ((?:[\w/-]+ )?(?!(?:{NO_PLURALS})\b)[a-z]{{2,}}s)\b|\bthe 1 \w+s\b|\bfactor of inf\b"
)
LESSON_STEPS = {"attention": (1, 2, 3, 5), "row": (2, 6), "masks": (1, 2, 4), "model": (1,), "cache": (2, 4)}
LINKS = [
    ("scaling", {"s_pairs": "1", "s_dk": "1"}),
    *[("scaling", {"s_section": name, "s_keys": "1", "s_dk": "1", "s_more": "true"})
      for name in ("saturation", "gradient", "alternatives")],
    ("scaling", {"s_section": "training", "s_steps": "10", "s_seeds": "1", "s_dk": "1"}),
    ("scaling", {"s_section": "softmax", "s_scores": "1", "s_block": "1"}),
    *[("masks", {"m_text": "cat", "m_view": view, "m_layers": "1"}) for view in ("layers", "traps")],
    ("positions", {"p_section": "scores", "p_n": "2", "p_width": "2", "p_heads": "1"}),
    ("positions", {"p_section": "circle", "p_width": "2"}),
    ("positions", {"p_section": "video", "p_dhead": "2"}),
    *[("build", {"b_text": "cat", "b_h": heads, "b_g": "1", "b_m": "2", "b_d": "1", "b_step": step})
      for heads, step in (("1", "project"), ("1", "split"), ("2", "split"), ("1", "merge"), ("1", "output"))],
    ("home", {"sentence": "cat"}),
    ("home", {"sentence": "猫"}),
    ("masks", {"m_view": "training", "m_text": "the the"}),
    ("fast", {"fast_section": "tiles", "fast_n": "1"}),
    ("decoding", {"d_view": "policies", "d_text": "The cat sat on a"}),
    ("build", {"b_text": "cat", "b_step": "two_sources"}),
    ("sharing", {"h_text": "word", "h_kept": "3"}),
    *[("sharing", {"h_view": view, "h_context": "1"}) for view in ("latent", "count", "size")],
    ("heads", {"hd_model": "minilm-l6", "hd_text": "own", "hd_own": "the cat and the cat"}),
    ("explore", {"text": "word", "open_stages": "1", "open_average": "1", "average": "0.0"}),
    ("compare", {"c_n": "1", "c_heads": "1"}),
    ("decoding", {"d_model": "core", "d_prompt": "a", "d_steps": "1"}),
    *[("lessons", {"lesson": name, "step": str(step), "l_text": "cat", "l_notes": "true"})
      for name, steps in LESSON_STEPS.items() for step in steps],
]  # fmt: skip


def words(value: Any) -> Iterator[str]:
    """All texts in what a canvas is sent."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list | tuple):
        for each in value.values() if isinstance(value, dict) else value:
            yield from words(each)


@pytest.mark.parametrize(
    "name, link", LINKS, ids=lambda each: "&".join(each.values()) if isinstance(each, dict) else each
)
def test_one_thing_is_not_spoken_of_as_several(visit, name, link):
    page = visit(name, **link)
    kinds = (page.markdown, page.caption, page.info, page.warning, page.success, page.error, page.subheader)
    said = [unescape(str(part.value)).replace("**", "") for kind in kinds for part in kind]
    said += [box.label for box in page.expander]
    drawn = [text for canvas in canvases_on(page) for text in words(unblob(bytes(canvas.proto.bytes))[0])]
    assert [found[0] for text in (*said, *drawn) for found in BAD.finditer(text)] == []


def test_the_forms_that_were_wrong_are_found_and_right_ones_are_not():
    wrong = (
        "one of 1 keys and",
        "One of the 1 eigenvalues is",
        "1 new words on a cache",
        "1 likeliest tokens left",
        "makes 1 × 1 or 1 tokens go",
        "All 1 rows",
        "2: 1 K/V heads",
    )
    assert all(BAD.search(text) for text in wrong)
    right = (
        "1.0 keys",
        "11 keys",
        "1 key of 2",
        "2 × 1 = 1 of",
        "sums to 1",
        "1 is less",
        "1 key has",
        "with 1,021 words",
        "numbers from 0 to 1 only",
    )
    assert not [text for text in right if BAD.search(text)]
