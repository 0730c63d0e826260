"""Families that write their attention out (GPT-J, Bloom, MPT) are exact: against hooks and matrices by another hand."""

from typing import Any, NamedTuple

import pytest
import torch
from torch import Tensor, nn
from torch.testing import assert_close
from transformers import (
    BloomConfig,
    BloomForCausalLM,
    GPTJConfig,
    GPTJForCausalLM,
    MptConfig,
    MptForCausalLM,
    PreTrainedModel,
)
from transformers.models.gptj.modeling_gptj import apply_rotary_pos_emb

import attnviz as av
from tests.models.tiny import VOCAB, given_to, padded, tokens, zeros

HEADS, WIDTH = 6, 8
SIZE = HEADS * WIDTH
LAYER, HEAD, QUERY, KEY = 1, 2, 5, 3


class Family(NamedTuple):
    build: Any
    projection: str  #: of heads, in a block
    norm: str  #: before attention
    keys: str  #: what makes keys


FAMILIES = {
    "gptj": Family(
        lambda n: GPTJForCausalLM(
            GPTJConfig(
                n_embd=SIZE,
                n_layer=n,
                n_head=HEADS,
                rotary_dim=4,
                n_positions=32,
                vocab_size=VOCAB,
                initializer_range=0.3,
            )
        ),
        "attn.out_proj",
        "ln_1",
        "attn.k_proj",
    ),
    "bloom": Family(
        lambda n: BloomForCausalLM(
            BloomConfig(hidden_size=SIZE, n_layer=n, n_head=HEADS, vocab_size=VOCAB, initializer_range=0.3)
        ),
        "self_attention.dense",
        "input_layernorm",
        "self_attention.query_key_value",
    ),
    "mpt": Family(
        lambda n: MptForCausalLM(
            MptConfig(d_model=SIZE, n_layers=n, n_heads=HEADS, max_seq_len=32, vocab_size=VOCAB, initializer_range=0.3)
        ),
        "attn.out_proj",
        "norm_1",
        "attn.Wqkv",
    ),
}


def made(family: str, layers: int = 2) -> PreTrainedModel:
    torch.manual_seed(0)
    model = FAMILIES[family].build(layers).eval()
    for parameter in model.parameters():
        parameter.data += 0.2 * torch.randn_like(parameter) if parameter.dim() == 1 else 0.0
    return model


def blocks_of(model: Any) -> Any:
    return model.transformer.blocks if hasattr(model.transformer, "blocks") else model.transformer.h


def place(family: str, block: int, part: str) -> str:
    return f"transformer.{'blocks' if family == 'mpt' else 'h'}.{block}.{part}"


def reported(model: Any, ids: Tensor, **more: Any) -> Any:
    with torch.no_grad():
        return model(ids, output_attentions=True, **more)


def head_of(block: Any, family: str, rows: Tensor, bias: bool) -> tuple[Tensor, Tensor]:
    """Queries and keys (T, D) of the head, by the matrices of a block, of rows (T, M) after its norm."""
    if family == "gptj":
        sin, cos = block.attn.embed_positions[: len(rows)].chunk(2, -1)

        def rotated(projection: nn.Module) -> Tensor:
            vectors = (rows @ projection.weight.mT).view(1, len(rows), HEADS, WIDTH)
            turned = apply_rotary_pos_emb(vectors[..., :4], sin[None], cos[None])
            return torch.cat([turned, vectors[..., 4:]], -1)[0, :, HEAD]

        return rotated(block.attn.q_proj), rotated(block.attn.k_proj)
    fused = block.self_attention.query_key_value if family == "bloom" else block.attn.Wqkv
    vectors = rows @ fused.weight.mT + (fused.bias if bias and fused.bias is not None else 0)
    if family == "bloom":
        q, k, _ = vectors.view(-1, HEADS, 3, WIDTH)[:, HEAD].unbind(1)
    else:
        q, k, _ = vectors.view(-1, 3, HEADS, WIDTH)[:, :, HEAD].unbind(1)
    return q, k


@pytest.mark.parametrize("family", FAMILIES)
def test_weights_and_outputs_are_the_models_own_and_heads_are_switched_off(family: str) -> None:
    model, spec, seen = made(family), FAMILIES[family], list[Tensor]()
    mask = padded("left")
    hooks = [
        model.get_submodule(place(family, n, spec.projection)).register_forward_pre_hook(lambda _, x: seen.append(x[0]))
        for n in range(2)
    ]
    trace = av.capture(model, input_ids=tokens(), attention_mask=mask)
    for hook in hooks:
        hook.remove()
    real, answer = mask.bool(), reported(model, tokens(), attention_mask=mask)
    for layer, given, expected in zip(trace, seen, answer.attentions, strict=True):
        assert layer.exact
        assert_close(layer.weights().transpose(1, 2)[real], expected.transpose(1, 2)[real], rtol=1e-4, atol=1e-5)
        assert_close(layer.z().transpose(1, 2).flatten(2)[real], given[real], rtol=1e-4, atol=1e-5)
    assert_close(trace.logits, answer.logits[:, -1], rtol=1e-4, atol=1e-4)
    hidden = zeros(slice(HEAD * WIDTH, (HEAD + 1) * WIDTH))
    with given_to(model, place(family, 0, spec.projection), hidden):
        expected = reported(model, tokens()).logits[:, -1]
    assert_close(av.intervene(model, av.ablate(0, HEAD), tokens()).logits, expected, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("family", FAMILIES)
def test_a_score_is_the_sum_of_products_of_parts_by_hand(family: str) -> None:
    model, spec, ids = made(family), FAMILIES[family], tokens(1)
    trace = av.capture(model, ids, residual=True)
    found = trace.score_attribution(LAYER, HEAD, QUERY, KEY, against=None)
    first, block = blocks_of(model)
    with torch.no_grad():
        stream, projection = trace.residual[1][0], first.get_submodule(spec.projection)
        token = model.get_input_embeddings()(ids)[0]
        bias = torch.zeros_like(token) if projection.bias is None else projection.bias.expand_as(token)
        if family == "bloom":
            norm = model.transformer.word_embeddings_layernorm
            bias, token = bias + norm.bias, norm(token) - norm.bias
        parts = {"bias": bias, "token": token}
        parts |= {
            f"0.{h}": trace[0].z(h)[0, 0] @ projection.weight[:, WIDTH * h : WIDTH * (h + 1)].mT for h in range(HEADS)
        }
        parts["mlp 0"] = stream - torch.stack([*parts.values()]).sum(0)
        norm = block.get_submodule(spec.norm)
        scale = (stream.var(-1, correction=0, keepdim=True) + norm.eps).rsqrt() * norm.weight
        q, k = {}, {}
        for name, part in parts.items():
            rows = (part - part.mean(-1, keepdim=True)) * scale
            shift = norm.bias if name == "bias" and norm.bias is not None else 0.0
            q[name], k[name] = head_of(block, family, rows + shift, name == "bias")
    assert set(found.parts) == set(parts)
    for row, one in enumerate(found.parts):
        for column, other in enumerate(found.parts):
            expected = float(q[one][QUERY] @ k[other][KEY]) * WIDTH**-0.5
            assert float(found.table[0, row, column]) == pytest.approx(expected, abs=1e-5)


@pytest.mark.parametrize("family", FAMILIES)
def test_parts_add_up_to_the_log_odds_and_a_cut_is_one_of_hooks(family: str) -> None:
    model, spec, ids = made(family), FAMILIES[family], tokens()
    before = reported(model, ids).attentions[LAYER][:, HEAD, QUERY]
    found = av.capture(model, ids, residual=True).score_attribution(LAYER, HEAD, QUERY, KEY)
    assert_close(found.log_odds.float(), torch.logit(before[:, KEY]), rtol=0, atol=1e-3)
    together = found.table.sum((1, 2)) + found.position + found.sink + found.capped - found.entropy
    assert_close(together, found.log_odds, rtol=0, atol=1e-3)
    written, made_keys = list[Tensor](), list[Tensor]()
    with given_to(model, place(family, 0, spec.projection), lambda z: written.append(z) or z):  # type: ignore[func-returns-value]
        reported(model, ids)
    weight = model.get_submodule(place(family, 0, spec.projection)).weight[:, WIDTH : 2 * WIDTH]
    part = written[0][..., WIDTH : 2 * WIDTH] @ weight.mT

    def note(_: nn.Module, __: Any, output: Tensor) -> None:
        made_keys.append(output)

    def swap(_: nn.Module, __: Any, output: Tensor) -> Tensor:
        if family == "gptj":
            return made_keys[0]
        shape = (HEADS, 3, WIDTH) if family == "bloom" else (3, HEADS, WIDTH)
        mine, theirs = output.unflatten(-1, shape).clone(), made_keys[0].unflatten(-1, shape)
        index = (..., slice(1, 2), slice(None)) if family == "bloom" else (..., slice(1, 2), slice(None), slice(None))
        mine[index] = theirs[index]
        return mine.flatten(-3)

    module = model.get_submodule(place(family, LAYER, spec.keys))
    hook = module.register_forward_hook(note)
    norm = place(family, LAYER, spec.norm)
    with given_to(model, norm, lambda stream: stream - part):  # what attention reads, and no one else
        reported(model, ids)
    hook.remove()
    hook = module.register_forward_hook(swap)
    expected = reported(model, ids).attentions[LAYER][:, HEAD, QUERY]
    hook.remove()
    assert float((expected - before).abs().max()) > 1e-3
    for row in range(len(ids)):
        cut = found.cut("0.1", row=row)
        assert_close(cut.row.float(), expected[row], rtol=1e-4, atol=1e-5)
        assert_close(cut.row_before.float(), before[row], rtol=1e-4, atol=1e-5)
    switched_off = av.intervene(model, av.ablate(0, 1), ids)[LAYER].weights(HEAD)[0, 0, QUERY, KEY]
    assert found.cut("0.1").total == pytest.approx(float(switched_off), abs=1e-6)


@pytest.mark.parametrize("family", FAMILIES)
def test_logits_and_patches_are_those_of_the_models_own_modules(family: str) -> None:
    model, spec, one, two = made(family), FAMILIES[family], tokens(1), tokens(1, seed=5)
    metric, name, seen = av.logit_diff(7, 11), place(family, 1, spec.projection), list[Tensor]()
    found = av.capture(model, one, residual=True).logit_attribution(metric)
    clean, before = (reported(model, ids).logits[0, -1] for ids in (one, two))
    assert_close(found.total, (clean[7] - clean[11])[None], rtol=1e-3, atol=1e-4)
    with given_to(model, name, lambda given: seen.append(given) or given):  # type: ignore[func-returns-value]
        reported(model, one)

    def put(given: Tensor) -> Tensor:
        given[..., WIDTH : 2 * WIDTH] = seen[0][..., WIDTH : 2 * WIDTH]
        return given

    with given_to(model, name, put):
        after = reported(model, two).logits[0, -1]
    change = float((after - before)[7] - (after - before)[11])
    effect = dict(av.activation_patching(model, one, two, metric, [(1, 1)]))[1, 1]  # type: ignore[index]
    assert effect == pytest.approx(change, abs=1e-4)
    slope = list[Tensor]()

    def note(_: nn.Module, given: tuple[Tensor]) -> tuple[Tensor]:
        slope.append(given[0].detach().requires_grad_())
        return (slope[0],)

    hook = model.get_submodule(name).register_forward_pre_hook(note)
    logits = model(two).logits[0, -1]
    hook.remove()
    (gradient,) = torch.autograd.grad(logits[7] - logits[11], slope)
    linear = ((seen[0] - slope[0]) * gradient)[..., WIDTH : 2 * WIDTH].sum()
    assert av.attribution_patching(model, one, two, metric).at((1, 1)) == pytest.approx(
        float(linear.detach()), abs=1e-4
    )
