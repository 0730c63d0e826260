"""Circuits of heads against whole matrices of weights, and against the attention of sentences of two tokens."""

from typing import Any

import pytest
import torch
from torch import Tensor
from torch.testing import assert_close

from attnviz.models.attribution import head_circuits as module
from attnviz.models.attribution.head_circuits import HeadCircuits, composition_scores, head_circuits
from attnviz.models.loading import load
from attnviz.models.tokens import label_of
from tests.models.tiny import VOCAB, eager, llama
from tests.models.tiny_streams import STREAMS
from tests.models.tiny_tokenizers import saved, word_piece


def table(found: HeadCircuits, what: str) -> Tensor:
    """All scores as one matrix (V, V), from the pairs."""
    pairs = getattr(found, what)(n=VOCAB * VOCAB)
    made = torch.full((VOCAB, VOCAB), torch.nan)
    for row, column, score in pairs:
        made[row, column] = score
    return made


@pytest.fixture(autouse=True)
def few_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "ROWS", 7)


@pytest.mark.parametrize("name, more", [("llama", {}), ("qwen3", {}), ("gemma2", {"attn_logit_softcapping": None})])
def test_two_tokens_attend_as_the_circuit_says(name: str, more: dict[str, Any]) -> None:
    """In a first layer, log(w10 / w11) is the score of the pair one apart less that of the query with itself."""
    model, head = STREAMS[name][0](**more), 3
    here, apart = head_circuits(model, 0, head), head_circuits(model, 0, head, distance=1)
    own, next_to = table(here, "matches"), table(apart, "matches")
    keys, queries = torch.tensor([3, 8, 50, 99]), torch.tensor([7, 8, 99, 0])
    weights = eager(model, input_ids=torch.stack([keys, queries], 1)).attentions[0][:, head, 1]
    expected = weights[:, 0].log() - weights[:, 1].log()
    assert_close(next_to[queries, keys] - own[queries, queries], expected, atol=1e-4, rtol=1e-4)
    assert (own - next_to).abs().max() > 0.01


def maps(model: Any, name: str, layer: int) -> tuple[Tensor, Tensor]:
    """W_QK and W_OV of each head, (H, M, M), the gain of the layer's norm in what is read."""
    block = (model.model.layers if name == "llama" else model.transformer.h)[layer]
    attention = block.get_submodule({"llama": "self_attn", "bloom": "self_attention"}.get(name, "attn"))
    norm = block.get_submodule("ln_1" if name in ("gpt2", "gptj") else "input_layernorm")
    centred = torch.eye(48) if name == "llama" else torch.eye(48) - 1 / 48
    if name == "gpt2":
        (q, k, v), o = attention.c_attn.weight.T.split(48), attention.c_proj.weight.T
    elif name == "bloom":
        fused = attention.query_key_value.weight.view(6, 3, 8, 48).unbind(1)
        (q, k, v), o = (part.flatten(0, 1) for part in fused), attention.dense.weight
    else:
        q, k, v = (getattr(attention, f"{each}_proj").weight for each in "qkv")
        o = attention.get_submodule("o_proj" if name == "llama" else "out_proj").weight
    q, k, v = ((part * norm.weight @ centred).unflatten(0, (-1, 8)) for part in (q, k, v))
    k, v = (part.repeat_interleave(6 // len(part), 0) for part in (k, v))  # heads in groups share them
    return q.mT @ k, o.unflatten(1, (6, 8)).transpose(0, 1) @ v


@pytest.mark.parametrize("name", ["llama", "gpt2", "bloom", "gptj"])
def test_composition_scores_are_those_of_whole_matrices(name: str) -> None:
    model = STREAMS[name][0]()
    found = composition_scores(model)
    norm = torch.linalg.matrix_norm
    for earlier, later in ((0, 1), (0, 2), (1, 2)):
        (_, write), (qk, ov) = maps(model, name, earlier), maps(model, name, later)
        for scores, read in ((found.q, qk.mT), (found.k, qk), (found.v, ov)):
            expected = norm(read @ write[:, None]) / (norm(read) * norm(write)[:, None])
            assert_close(scores[earlier, :, later], expected.detach(), atol=1e-5, rtol=1e-4)
    assert found.q.shape == (3, 6) * 2
    assert bool(found.q[1, :, 1].isnan().all() & found.v[2, :, 0].isnan().all())


def test_circuits_and_scores_come_as_tables_and_pictures(tmp_path: Any) -> None:
    loaded = load(str(saved(llama(vocab_size=len(word_piece())), tmp_path)))
    circuits = head_circuits(loaded, 1, 2)
    frame = circuits.to_dataframe(3)
    assert [*frame[frame.circuit == "qk"][["token", "other", "score"]].itertuples(index=False, name=None)] == [
        pytest.approx(pair) for pair in circuits.matches(n=3)
    ]
    assert [*frame[frame.circuit == "ov"].other] == [raised for _, raised, _ in circuits.writes(n=3)]
    assert [*frame.token_label] == [label_of(loaded.tokenizer, token) for token in frame.token]
    assert [len(bars.y) for bars in circuits.plot(3).data] == [3, 3]
    found = composition_scores(loaded)
    frame = found.to_dataframe()
    assert len(frame) == 3 * 6 * 6
    row = frame[(frame.through == "k") & (frame.earlier_head == 4) & (frame.later_head == 1)].iloc[0]
    assert (row.earlier, row.later, row.score) == (0, 1, pytest.approx(float(found.k[0, 4, 1, 1])))
    maps_of = found.plot().data
    assert [each.z.shape for each in maps_of] == [(12, 12)] * 3
    assert maps_of[1].z[4, 7] == pytest.approx(float(found.k[0, 4, 1, 1]))
    assert (maps_of[1].y[4], maps_of[1].x[7]) == ("0.4", "1.1")
