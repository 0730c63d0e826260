"""Falcon calls torch's fused attention by itself, and adds attention to its MLP's answer in place: it is exact, too."""

from typing import Any

import pytest
import torch
from torch import Tensor
from torch.testing import assert_close
from transformers import FalconConfig, FalconForCausalLM
from transformers.models.falcon.modeling_falcon import apply_rotary_pos_emb

import attnviz as av
from tests.models.tiny import VOCAB, given_to, padded, tokens, zeros

FORMS: dict[str, dict[str, Any]] = {
    "one key for all heads": {"multi_query": True},
    "groups": {"new_decoder_architecture": True, "num_kv_heads": 2},
    "ALiBi, attention before the MLP": {"alibi": True, "multi_query": False, "parallel_attn": False},
}
HEADS, WIDTH = 6, 8


def falcon(form: str) -> FalconForCausalLM:
    torch.manual_seed(0)
    sizes = {"hidden_size": HEADS * WIDTH, "num_hidden_layers": 2, "num_attention_heads": HEADS, "vocab_size": VOCAB}
    return FalconForCausalLM(FalconConfig(**sizes, initializer_range=0.3, **FORMS[form])).eval()


@pytest.mark.parametrize("form", FORMS)
def test_heads_hand_on_what_the_model_itself_projects(form: str) -> None:
    model, seen = falcon(form), list[Tensor]()
    mask = padded("left")
    hooks = [
        b.self_attention.dense.register_forward_pre_hook(lambda _, x: seen.append(x[0])) for b in model.transformer.h
    ]
    trace = av.capture(model, input_ids=tokens(), attention_mask=mask)
    for hook in hooks:
        hook.remove()
    for layer, given in zip(trace, seen, strict=True):
        made = layer.weights() @ layer.qkv[2].repeat_interleave(HEADS // layer.n_kv_heads, 1)
        assert_close(made.transpose(1, 2).flatten(2)[mask.bool()], given[mask.bool()], rtol=1e-4, atol=1e-5)
    with given_to(model, "transformer.h.0.self_attention.dense", zeros(slice(2 * WIDTH, 3 * WIDTH))):
        expected = model(tokens()).logits[:, -1]
    assert_close(av.intervene(model, av.ablate(0, 2), tokens()).logits, expected, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("form", FORMS)
def test_a_logit_and_an_mlp_are_those_of_the_models_own_modules(form: str) -> None:
    model, one, two, metric = falcon(form), tokens(1), tokens(1, seed=5), av.logit_diff(7, 11)
    trace = av.capture(model, one, residual=True)
    found = trace.logit_attribution(7)
    end = trace.residual[-1][0, -1]
    scale = model.transformer.ln_f.weight / (end.var(correction=0) + 1e-5).sqrt()
    written = trace[1].z(2)[0, 0, -1] @ model.transformer.h[1].self_attention.dense.weight[:, 16:24].mT
    expected = ((written - written.mean()) * scale) @ model.lm_head.weight[7]
    assert_close(found.heads[0, 1, 2], expected, rtol=1e-4, atol=1e-5)
    assert_close(found.total, found.logit, rtol=1e-4, atol=1e-4)
    seen, place = list[Tensor](), "transformer.h.1.mlp.dense_4h_to_h"
    with given_to(model, place, lambda given: seen.append(given) or given):  # type: ignore[func-returns-value]
        model(one)
    with given_to(model, place, lambda _: seen[0]):
        after = model(two).logits[0, -1].detach()
    before = model(two).logits[0, -1].detach()
    effect = dict(av.activation_patching(model, one, two, metric, [(1, "mlp")]))[1, "mlp"]  # type: ignore[index]
    assert effect == pytest.approx(float((after - before)[7] - (after - before)[11]), abs=1e-4)
    linear = av.attribution_patching(model, one, two, metric)
    assert linear.at((1, "resid")) != pytest.approx(linear.at((1, "mlp")), abs=1e-3)
    av.find_circuit(model, one, two, metric, by="resample", sizes=[3])
    assert_close(model(two).logits[0, -1].detach(), before, rtol=0, atol=0)


def test_a_score_is_the_sum_of_products_of_parts_by_hand() -> None:
    model, ids, layer, head, query, key = falcon("one key for all heads"), tokens(1), 1, 2, 5, 3
    trace = av.capture(model, ids, residual=True)
    found = trace.score_attribution(layer, head, query, key, against=None)
    block, first = model.transformer.h[1], model.transformer.h[0]
    with torch.no_grad():
        token, stream = model.transformer.word_embeddings(ids)[0], trace.residual[1][0]
        heads = [trace[0].z(h)[0, 0] @ first.self_attention.dense.weight[:, 8 * h : 8 * h + 8].mT for h in range(HEADS)]
        parts = {"token": token} | {f"0.{h}": each for h, each in enumerate(heads)}
        parts["mlp 0"] = stream - sum(parts.values())
        norm = block.input_layernorm
        scale = (stream.var(-1, correction=0, keepdim=True) + norm.eps).rsqrt()
        rotation = model.transformer.rotary_emb(stream[None], torch.arange(7)[None])
        q, k = {}, {}
        for name, part in (parts | {"bias": torch.zeros_like(stream)}).items():
            read = (
                norm.bias + 0 * part if name == "bias" else (part - part.mean(-1, keepdim=True)) * scale * norm.weight
            )
            rows = (read @ block.self_attention.query_key_value.weight.mT).view(1, 7, HEADS + 2, WIDTH).transpose(1, 2)
            rotated = apply_rotary_pos_emb(rows[:, :HEADS], rows[:, HEADS : HEADS + 1], *rotation)
            q[name], k[name] = rotated[0][0, head, query], rotated[1][0, 0, key]
    for row, one in enumerate(found.parts):
        for column, other in enumerate(found.parts):
            assert float(found.table[0, row, column]) == pytest.approx(float(q[one] @ k[other]) * WIDTH**-0.5, abs=1e-5)
    assert found.parts == ("bias", *parts)
    cut = found.cut("0.1")
    assert cut.total == pytest.approx(
        float(av.intervene(model, av.ablate(0, 1), ids)[1].weights(2)[0, 0, 5, 3]), abs=1e-6
    )
