"""Words of a real head at other places: against transformers' own rotation, and as the picture writes them."""

import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from transformers.models.llama.modeling_llama import apply_rotary_pos_emb

from attnviz.analysis.model_run import Request, run_model
from attnviz.base.message import Problem
from attnviz.canvas.word_dial import DialFigure, DialState
from attnviz.live.scene_figure import SceneFigure
from attnviz.models.capture import capture
from attnviz.models.tokens import encode
from attnviz.pages.positions.maths import turning_words
from tests.pages.conftest import drawn, sound, with_code

TEXT, LAYER, HEAD = turning_words.PREPARED
#: as typed; backwards; "animal" right before "it"; the first and the last changed places
ORDERS = ([*range(13)], [*range(13)][::-1], [0, 2, 3, 4, 5, 6, 7, 1, *range(8, 13)], [12, *range(1, 12), 0])


@pytest.fixture(scope="module")
def found() -> turning_words.TurningWords:
    prepared = turning_words.read_prepared()
    assert prepared is not None
    return prepared


def of_transformers(loaded: Any, order: list[int]) -> tuple[torch.Tensor, torch.Tensor]:
    """Raw scores and weights of the head, its words at these places, by the model's own rotary module."""
    layer = capture(loaded.model, **encode(loaded, TEXT).inputs).layers[LAYER]
    rotary = next(module for module in loaded.model.modules() if type(module).__name__ == "LlamaRotaryEmbedding")
    q, k = layer.q[:, HEAD : HEAD + 1].float(), layer.k[:, HEAD // 3 : HEAD // 3 + 1].float()
    cos, sin = rotary(q[:, 0], torch.arange(13)[None])
    plain_q, plain_k = apply_rotary_pos_emb(q, k, cos, -sin)  # turned back
    cos, sin = rotary(q[:, 0], torch.tensor(order).argsort()[None])
    q, k = apply_rotary_pos_emb(plain_q, plain_k, cos, sin)
    scores = (q @ k.mT)[0, 0]
    mask = torch.ones(13, 13).tril().bool()[torch.tensor(order).argsort()][:, torch.tensor(order).argsort()]
    return scores, (scores / 8).masked_fill(~mask, -torch.inf).softmax(-1)


@pytest.mark.parametrize("order", ORDERS)
def test_scores_and_weights_are_those_of_transformers_wherever_words_stand(smollm2, found, order):
    scores, weights = of_transformers(smollm2, order)
    torch.testing.assert_close(found.scores(order).float(), scores, rtol=1e-4, atol=2e-3)
    torch.testing.assert_close(found.weights(order).float(), weights, rtol=0, atol=1e-5)


@pytest.mark.parametrize("row", [0, 1, 2, 3, 8, 12])
def test_where_a_word_looks_when_two_others_change_places_is_what_transformers_computes(smollm2, found, row):
    exchange = found.exchange_before(row)
    if row < 2:
        assert exchange is None
        return
    order = [*range(13)]
    other = 1 if row > 2 else 0
    order[other], order[row - 1] = order[row - 1], order[other]
    assert exchange == (tuple(order), other, row - 1)
    weights = of_transformers(smollm2, order)[1][row]
    (first, most), (second, _none) = zip(*weights.topk(2), strict=True)
    named = {other: "moved", row - 1: "before", row: "own"}
    right = named.get(int(most), "other") if first - second > 0.01 else None
    assert found.find_most(row, exchange) == right


def test_nothing_is_asked_of_words_that_are_alike(found):
    assert replace(found, words=("so",) * 13).exchange_before(8) is None
    alike = replace(found, k=np.ones_like(found.k), turns=np.zeros_like(found.turns))
    assert alike.find_most(8, alike.exchange_before(8)) is None


def test_what_is_shipped_is_what_the_model_has_and_what_is_not_rope_alone_is_refused(smollm2, found):
    run = run_model(Request(turning_words.MODEL, TEXT), smollm2)
    recorded = turning_words.record(run, smollm2, LAYER, HEAD)
    assert recorded.words == found.words
    for name in ("turns", "q", "k"):
        assert getattr(found, name) == pytest.approx(getattr(recorded, name), abs=1e-4)
    with pytest.raises(Problem, match=f"no head {LAYER}.99: layers go from 0 to 29, heads from 0 to 8"):
        turning_words.record(run, smollm2, LAYER, 99)
    long = run_model(Request(turning_words.MODEL, "so " * 30), smollm2)
    with pytest.raises(Problem, match="at most 24"):
        turning_words.record(long, smollm2, LAYER, HEAD)


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("turned, row", [(100, 8), (100, 0), (40, 12)])
def test_the_picture_writes_what_torch_computes(found, order, turned, row):
    figure = DialFigure(
        DialState(turned, tuple(order), row, 0), found.words, found.turns, found.q, found.k, found.scale
    )
    svg = re.sub(r"<[^>]*>", "\n", SceneFigure((figure,)).to_svg().replace("−", "-"))
    scores, weights = (
        values[row] for values in (found.scores(order, turned / 100), found.weights(order, turned / 100))
    )
    seen = order[: order.index(row) + 1]
    for word in seen:
        assert f"{scores[word]:.1f}" in svg
        assert (f"{weights[word]:.0%}" if weights[word] >= 0.01 else "<1%") in svg.replace("&lt;", "<")
    assert svg.count("stands after it") == len(order) - len(seen)
    most = found.words[int(weights.argmax())]
    name = "itself" if int(weights.argmax()) == row else f"“{most}”"
    sentence = " ".join(svg.split())
    assert ("stands first: it sees itself alone" if len(seen) == 1 else f"looks most at {name}") in sentence
    assert ("As typed it is" in sentence) == (turned < 100 or order != ORDERS[0])


def test_the_page_opens_with_the_words_that_a_link_has_moved_and_a_model_reads_others(visit, smollm2, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr("attnviz.app.cache.model_cache.get_run", lambda *_: pytest.fail("no model is asked"))
        order = ".".join(map(str, ORDERS[2]))
        page = sound(visit("positions", p_words=order, p_row="9", p_pair="40", p_turned="70"))
        assert drawn(visit("positions", p_words="1.1.2"))[0]["order"] == ORDERS[0], "no order of these words"
    header, _payload = drawn(page)
    assert (header["at"], header["order"], header["row"], header["pair"]) == (70, ORDERS[2], 9, 31)
    assert f"order = {ORDERS[2]}" in with_code(page).code[0].value
    header, _payload = drawn(sound(visit("positions", p_text="Two birds sang", p_layer="11", p_head="1")))
    assert header["tokens"] == ["Two", "birds", "sang"]
    assert header["row"] == 2, "the last of fewer words"
