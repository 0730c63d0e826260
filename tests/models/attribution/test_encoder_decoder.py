"""Logits by heads, patching and paths in encoder-decoders, against torch hooks on their own modules."""

from contextlib import ExitStack
from functools import partial
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.testing import assert_close
from transformers import T5Config, T5ForConditionalGeneration

import attnviz as av
from tests.models.capture.test_logit_attribution import frozen
from tests.models.capture.test_score_attribution import other_family
from tests.models.tiny import VOCAB, given_in, given_to, tokens

HEADS, WIDTH = 4, 8
METRIC = av.logit_diff(7, 11)
ENCODER, DECODER, CROSS = (
    "encoder.block.1.layer.0.SelfAttention.o",
    "decoder.block.1.layer.0.SelfAttention.o",
    "decoder.block.0.layer.1.EncDecAttention.o",
)
CLEAN, CORRUPTED = (
    {"input_ids": tokens(1, seed=seed), "decoder_input_ids": tokens(1, 5, seed=seed + 2)} for seed in (1, 9)
)


def t5(tied: bool = True) -> Any:
    torch.manual_seed(0)
    sizes = {
        "d_model": HEADS * WIDTH,
        "d_kv": WIDTH,
        "num_heads": HEADS,
        "num_layers": 2,
        "d_ff": 48,
        "vocab_size": VOCAB,
    }
    form = "relu" if tied else "gated-gelu"
    model = T5ForConditionalGeneration(T5Config(**sizes, tie_word_embeddings=tied, feed_forward_proj=form)).eval()
    for parameter in model.parameters():
        parameter.data += 0.2 * torch.randn_like(parameter)
    return model


def lead(model: Any, inputs: dict[str, Tensor]) -> Tensor:
    logits = model(**inputs).logits[0, -1]
    return logits[7] - logits[11]


#: how to build a model, what its projections of heads are called, and where its decoder's MLPs answer
LOGITS: dict[str, tuple[Any, str, str]] = {
    "t5, tied": (t5, "o", "decoder.block.{}.layer.2.DenseReluDense"),
    "t5, gated and not tied": (partial(t5, tied=False), "o", "decoder.block.{}.layer.2.DenseReluDense"),
    "bart": (partial(other_family, "bart"), "out_proj", "model.decoder.layers.{}.fc2"),
    "marian": (partial(other_family, "marian"), "out_proj", "model.decoder.layers.{}.fc2"),
}


@pytest.mark.parametrize("family", LOGITS)
def test_a_logit_is_the_sum_of_what_heads_and_mlps_of_the_decoder_write(family: str) -> None:
    """Slopes of the logit, norms frozen, times what each head and MLP of the decoder hands on."""
    build, projection, mlp = LOGITS[family]
    model, leaves = build(), list[Tensor]()
    found = av.capture(model, **CLEAN, residual=True).logit_attribution(7)
    mlps = [mlp.format(n) for n in range(2)]
    names = [f"{name}.{projection}" for name in found.layers] + mlps

    def leaf(_m: Any, _x: Any, y: Tensor) -> Tensor:
        leaves.append(y.detach().requires_grad_())
        return leaves[-1]

    def leaf_before(_m: Any, x: tuple[Tensor, ...]) -> tuple[Tensor]:
        return (leaf(None, None, x[0]),)

    with ExitStack() as stack:
        for module in model.modules():
            if type(module).__name__.endswith("Norm"):
                stack.callback(module.register_forward_hook(frozen).remove)
        for name in names:
            module = model.get_submodule(name)
            hook = module.register_forward_hook(leaf) if name in mlps else module.register_forward_pre_hook(leaf_before)
            stack.callback(hook.remove)
        logit = model(**CLEAN).logits[0, -1, 7]
    slopes = torch.autograd.grad(logit, leaves)
    terms = [(slope * value)[0].detach() for slope, value in zip(slopes, leaves, strict=True)]
    for number, layer in enumerate((0, 1, 3, 4)):  # a block's MLP runs behind its two layers
        expected = terms[layer].unflatten(-1, (found.heads.shape[2], -1)).sum((0, 2))
        assert_close(found.heads[0, number], expected, rtol=1e-4, atol=1e-5)
        assert_close(found.sources(number, 1).sum(1), found.heads[:, number, 1], rtol=1e-4, atol=1e-5)
    assert_close(found.mlps[0, 1::2], torch.stack([terms[2].sum(), terms[5].sum()]), rtol=1e-4, atol=1e-5)
    assert not found.mlps[0, ::2].any()
    assert_close(found.total[0], logit.detach(), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("name", [ENCODER, DECODER, CROSS])
@pytest.mark.parametrize("position", [None, 2])
def test_patches_of_encoder_decoder_and_cross_attention_are_those_of_hooks(name: str, position: int | None) -> None:
    model, head = t5(), 1
    number = [f"{layer.name}.o" for layer in av.capture(model, **CLEAN)].index(name)
    clean, columns = given_in(model, name, **CLEAN), slice(head * WIDTH, (head + 1) * WIDTH)
    rows = slice(None) if position is None else position

    def put(z: Tensor) -> Tensor:
        z[:, rows, columns] = clean[:, rows, columns]
        return z

    before = lead(model, CORRUPTED)
    with given_to(model, name, put):
        expected = float(lead(model, CORRUPTED) - before)
    site = (number, head) if position is None else (number, head, position)
    (effect,) = [found for _, found in av.activation_patching(model, CLEAN, CORRUPTED, METRIC, [site, (0, 0)])][:1]
    assert effect == pytest.approx(expected, abs=1e-4)
    own = given_in(model, name, **CORRUPTED).requires_grad_()
    hook = model.get_submodule(name).register_forward_pre_hook(lambda _, z: (own,))
    (slope,) = torch.autograd.grad(lead(model, CORRUPTED), own)
    hook.remove()
    linear = float((slope * (clean - own.detach()))[:, rows, columns].sum())
    every = av.attribution_patching(model, CLEAN, CORRUPTED, METRIC)
    assert every.at(site) == pytest.approx(linear, abs=1e-4)
    assert every.heads.shape == (6, HEADS, 7)
    assert bool(every.heads[-1, :, 5:].isnan().all()), "the decoder has five positions"
    assert bool(every.by_head.isfinite().all())
    frame = every.to_dataframe()
    rows_of = frame[(frame.layer == number) & (frame.part == head)]
    assert len(rows_of) == clean.shape[1]
    assert rows_of.effect.sum() == pytest.approx(every.at((number, head)), abs=1e-5)


@pytest.mark.parametrize("block, name", [(1, "encoder.block.1"), (2, "decoder.block.0"), (3, "decoder.block.1")])
def test_streams_of_both_are_patched_the_encoders_blocks_first(block: int, name: str) -> None:
    model, rows = t5(), slice(3, 4)
    clean = given_in(model, name, **CLEAN)

    def put(stream: Tensor) -> Tensor:
        stream[:, rows] = clean[:, rows]
        return stream

    before = lead(model, CORRUPTED)
    with given_to(model, name, put):
        expected = float(lead(model, CORRUPTED) - before)
    effects = dict(av.activation_patching(model, CLEAN, CORRUPTED, METRIC, [(block, "resid", 3)]))  # type: ignore[arg-type]
    assert effects[block, "resid", 3] == pytest.approx(expected, abs=1e-4)  # type: ignore[index]


@pytest.mark.parametrize(
    "sender, receiver", [((1, 2), (3, 1, "k")), ((1, 2), (5, 0, "v")), ((3, 1), (4, 2, "q")), ((3, 1), None)]
)
def test_paths_lead_from_the_encoder_and_within_the_decoder_with_no_head_between(
    sender: tuple[int, int], receiver: tuple[int, int, Any] | None
) -> None:
    model = t5()
    names = [layer.name for layer in av.capture(model, **CLEAN)]
    clean, corrupted = (
        {name: given_in(model, f"{name}.o", **inputs) for name in names} for inputs in (CLEAN, CORRUPTED)
    )

    def columns(head: int) -> slice:
        return slice(head * WIDTH, (head + 1) * WIDTH)

    def freeze(name: str, z: Tensor) -> Tensor:
        z = clean[name].clone()
        if name == names[sender[0]]:
            z[..., columns(sender[1])] = corrupted[name][..., columns(sender[1])]
        return z

    arrived = list[Tensor]()
    with ExitStack() as stack:
        for name in names:
            stack.enter_context(given_to(model, f"{name}.o", partial(freeze, name)))
        if receiver is not None:
            projection = model.get_submodule(f"{names[receiver[0]]}.{receiver[2]}")
            stack.callback(projection.register_forward_hook(lambda _m, _x, y: arrived.append(y.clone())).remove)
        expected = lead(model, CLEAN)
    if receiver is not None:
        here = columns(receiver[1])

        def put(_m: Any, _x: Any, y: Tensor) -> Tensor:
            return torch.cat([y[..., : here.start], arrived[0][..., here], y[..., here.stop :]], -1)

        hook = projection.register_forward_hook(put)
        expected = lead(model, CLEAN)
        hook.remove()
    paths = av.path_patching(model, CLEAN, CORRUPTED, METRIC, [sender], [receiver] if receiver else "logits")
    ((_, effect),) = paths
    assert effect == pytest.approx(float(expected - lead(model, CLEAN)), abs=1e-5)
    assert abs(effect) > 1e-4


def test_prompts_of_other_lengths_and_tools_of_one_list_are_refused() -> None:
    model, shorter = t5(), CORRUPTED | {"decoder_input_ids": tokens(1, 4)}
    with pytest.raises(av.Problem, match="clean prompt has 5 tokens and the corrupted one 4"):
        av.attribution_patching(model, CLEAN, shorter, METRIC)
    for call in (
        lambda: av.find_circuit(model, CLEAN, CORRUPTED, METRIC),
        lambda: av.head_circuits(model, 0, 0),
        lambda: av.composition_scores(model),
    ):
        with pytest.raises(av.Problem, match="one list of self-attention layers"):
            call()
