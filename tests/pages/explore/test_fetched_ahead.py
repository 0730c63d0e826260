"""What the browser fetches ahead: all heads of a short sentence, small pictures of a long one under a change.

From a run in memory, never from the model; the pictures against weights of each head.
"""

import zlib
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from attnviz.analysis.model_run import Request, Stack, run_model
from attnviz.app.cache import model_cache
from attnviz.base.head_edit import HeadEdit
from attnviz.canvas.head import ahead
from attnviz.pages.explore.panels import head as head_panel

LONG = "The cat sat on the mat and the dog ran in the park. " * 6


def answer(address: str) -> bytes | None:
    return ahead.find_offer(address.lstrip("/"))


def expected(stack: Stack, layer: int, head: int, **change: Any) -> np.ndarray:
    """The tile of one head, block by block, from its weights."""
    weights = stack.layers[layer].weights(head, **change)[0, 0].float().numpy()
    parts = list(pairwise(i * len(weights) // 32 for i in range(33)))
    blocks = [[weights[a:b, c:d].max() for c, d in parts] for a, b in parts]
    found: np.ndarray = np.rint(np.sqrt(np.array(blocks)) * 254)
    return found


@pytest.mark.parametrize("where, reached", [("head", {(3, 5)}), ("layer", {(3, h) for h in range(12)}), ("all", None)])
def test_tiles_are_under_the_change_where_it_reaches(memory, minilm, where, reached):
    request = Request("minilm-l6", LONG)
    run = memory.runs.get(request, lambda: run_model(request, minilm))
    stack = run.stacks[0]
    assert len(stack.queries) > 64
    change = HeadEdit(scale="none", where=where)
    address = head_panel.offer_edited_tiles(run, stack, 3, 5, change)
    assert address is not None
    codes = np.frombuffer(zlib.decompress(answer(address)), np.uint8).reshape(72, 32, 32)
    for number in range(72):
        layer, head = divmod(number, 12)
        changed = reached is None or (layer, head) in reached
        wanted = expected(stack, layer, head, **({"scale": None} if changed else {}))
        assert np.abs(codes[number].astype(int) - wanted).max() <= 1, (layer, head)
    memory.runs = model_cache.ProcessCaches().runs
    assert answer(address) is None, "what is gone from memory is not made again"
