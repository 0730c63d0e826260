"""Circuits of heads against whole matrices of weights, and against the attention of sentences of two tokens."""

from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.testing import assert_close
from transformers import Qwen3Config, Qwen3ForCausalLM

from attnviz.models.attribution import head_circuits as module
from attnviz.models.attribution.head_circuits import HeadCircuits, composition_scores, head_circuits
from tests.models.capture.test_gradients import gemma2
from tests.models.tiny import VOCAB, eager, llama
from tests.notebook.transformer_lens_side import gpt2


def with_gains(model: Any) -> Any:
    """Norms whose gains and biases are not 1 and 0, so that it matters whether they are counted."""
    torch.manual_seed(3)
    for name, parameter in model.named_parameters():
        if parameter.dim() == 1:
            nn.init.normal_(parameter, 1.0 if name.endswith("weight") else 0.0, 0.3)
    return model


def qwen3() -> Qwen3ForCausalLM:
    """Queries and keys are normed."""
    torch.manual_seed(0)
    sizes = {"hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 2, "head_dim": 8, "vocab_size": VOCAB}
    heads = {"num_attention_heads": 4, "num_key_value_heads": 2, "initializer_range": 0.3}
    return with_gains(Qwen3ForCausalLM(Qwen3Config(**sizes, **heads)).eval())


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


@pytest.mark.parametrize("build", [lambda: with_gains(llama()), qwen3, lambda: gemma2(attn_logit_softcapping=None)])
def test_two_tokens_attend_as_the_circuit_says(build: Any) -> None:
    """In a first layer, log(w10 / w11) is the score of the pair one apart less that of the query with itself."""
    model, head = build(), 3
    here, apart = head_circuits(model, 0, head), head_circuits(model, 0, head, distance=1)
    own, next_to = table(here, "matches"), table(apart, "matches")
    keys, queries = torch.tensor([3, 8, 50, 99]), torch.tensor([7, 8, 99, 0])
    weights = eager(model, input_ids=torch.stack([keys, queries], 1)).attentions[0][:, head, 1]
    expected = weights[:, 0].log() - weights[:, 1].log()
    assert_close(next_to[queries, keys] - own[queries, queries], expected, atol=1e-4, rtol=1e-4)
    assert (own - next_to).abs().max() > 0.01


def by_weights(name: str, model: Any, layer: int, head: int) -> tuple[Tensor, Tensor]:
    """QK at distance 0 and OV over the vocabulary, (V, V) each."""
    with torch.no_grad():
        if name != "gpt2":
            block, norm, embeds = model.model.layers[layer], model.model.norm, model.model.embed_tokens.weight
            x, attention, size = block.input_layernorm(embeds), block.self_attn, 8
            q, k, v = attention.q_proj(x), attention.k_proj(x), attention.v_proj(x)
            shared, w_o = head // (3 if name == "llama" else 2), attention.o_proj.weight
        else:
            block, norm, embeds = model.transformer.h[layer], model.transformer.ln_f, model.transformer.wte.weight
            size, shared, w_o = 8, head, block.attn.c_proj.weight.T
            q, k, v = block.attn.c_attn(block.ln_1(embeds)).split(32, -1)
        mine, theirs = slice(head * size, (head + 1) * size), slice(shared * size, (shared + 1) * size)
        written = v[:, theirs] @ w_o[:, mine].T  # (V, M)
        if name == "gpt2":
            written = written - written.mean(-1, keepdim=True)
        if name == "gemma2":  # the scale is 256 to the power of -1/2 unless said, and gains are counted from 1
            gain = (1 + block.post_attention_layernorm.weight) * (1 + norm.weight)
            return q[:, mine] @ k[:, theirs].T / 16, written * gain @ model.lm_head.weight.T
        return q[:, mine] @ k[:, theirs].T * size**-0.5, written * norm.weight @ model.lm_head.weight.T


@pytest.mark.parametrize("layer, head", [(0, 2), (1, -1)])
@pytest.mark.parametrize("name", ["llama", "gpt2", "gemma2"])
def test_pairs_are_the_largest_of_the_whole_matrix(name: str, layer: int, head: int) -> None:
    builds: dict[str, Any] = {"llama": llama, "gpt2": gpt2, "gemma2": gemma2}
    model = with_gains(builds[name]())
    match, write = by_weights(name, model, layer, head % model.config.num_attention_heads)
    found = head_circuits(model, layer, head)
    for what, expected in (("matches", match), ("writes", write)):
        assert_close(table(found, what), expected, atol=1e-4, rtol=1e-4)
        for lowest in (False, True):
            flat = expected.flatten().sort(descending=not lowest)
            pairs = getattr(found, what)(n=15, lowest=lowest)
            assert [score for *_, score in pairs] == pytest.approx(flat.values[:15].tolist(), rel=1e-4, abs=1e-4)
            assert pairs[0][0] * VOCAB + pairs[0][1] == flat.indices[0]
        (row, column, score), *_ = getattr(found, what)(41, n=3)
        assert (row, column) == (41, int(expected[41].argmax()))
        assert score == pytest.approx(float(expected[41].max()), rel=1e-4)


def maps(model: Any, name: str, layer: int) -> tuple[list[Tensor], list[Tensor]]:
    """W_QK and W_OV (M, M) of each head, the gain of the layer's norm in what is read."""
    if name == "llama":
        block = model.model.layers[layer]
        q, k, v = (getattr(block.self_attn, f"{each}_proj").weight * block.input_layernorm.weight for each in "qkv")
        o, size, each_kv = block.self_attn.o_proj.weight, 8, 3
    else:
        block = model.transformer.h[layer]
        centred = torch.eye(32) - 1 / 32
        q, k, v = (part.T * block.ln_1.weight @ centred for part in block.attn.c_attn.weight.split(32, -1))
        o, size, each_kv = block.attn.c_proj.weight.T, 8, 1
    cut = [slice(head * size, (head + 1) * size) for head in range(o.shape[1] // size)]
    kv = [slice(head // each_kv * size, (head // each_kv + 1) * size) for head in range(len(cut))]
    match = [q[mine].T @ k[shared] for mine, shared in zip(cut, kv, strict=True)]
    return match, [o[:, mine] @ v[shared] for mine, shared in zip(cut, kv, strict=True)]


@pytest.mark.parametrize("name", ["llama", "gpt2"])
def test_composition_scores_are_those_of_whole_matrices(name: str) -> None:
    model = with_gains(llama(num_hidden_layers=3) if name == "llama" else gpt2())
    found = composition_scores(model)
    norm = torch.linalg.matrix_norm
    with torch.no_grad():
        for earlier, later in ((0, 1), (0, 2), (1, 2)):
            (_, writes), (match, moves) = maps(model, name, earlier), maps(model, name, later)
            for one, write in enumerate(writes):
                for other, (qk, ov) in enumerate(zip(match, moves, strict=True)):
                    expected = torch.stack(
                        [
                            norm(qk.T @ write) / (norm(qk) * norm(write)),
                            norm(qk @ write) / (norm(qk) * norm(write)),
                            norm(ov @ write) / (norm(ov) * norm(write)),
                        ]
                    )
                    ours = torch.stack([each[earlier, one, later, other] for each in (found.q, found.k, found.v)])
                    assert_close(ours, expected, atol=1e-5, rtol=1e-4)
    assert found.q.shape == (3, model.config.num_attention_heads) * 2
    assert bool(found.q[1, :, 1].isnan().all() & found.v[2, :, 0].isnan().all())
