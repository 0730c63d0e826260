"""A logit taken apart, against autograd over the same model with its norms frozen and its parts cut off as leaves."""

from functools import partial
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.testing import assert_close

from attnviz.base.message import Problem
from attnviz.models.capture import capture, logit_diff
from attnviz.models.capture.trace import Trace
from tests.models.attribution.test_patching import t5
from tests.models.capture.family_inputs import text
from tests.models.capture.leaves import leaves_of, slopes_times_values
from tests.models.capture.test_score_attribution import other_family
from tests.models.tiny import llama, padded, tokens
from tests.models.tiny_streams import STREAMS

POSITIONS = {
    "gpt2": "wpe",
    "opt": "embed_positions",
    "bert": "position_embeddings",
    "distilbert": "position_embeddings",
}
POST = ("bert", "roberta", "distilbert")
ON_THE_WAY = ("gemma2", "gemma3", "olmo2", "bloom")  #: norms between a part and the stream


def by_autograd(family: str, model: nn.Module, ids: Tensor, token: int, position: int) -> dict[str, Tensor]:
    """What each part adds to one row's logit, (1, T, H*Dv) of heads and so on: gradients times values."""
    _, projection, mlp = STREAMS[family]
    heads = {f"heads {n}": projection.format(n) for n in range(3)}
    with leaves_of(model, heads, {f"mlp {n}": mlp.format(n) for n in range(3)}) as leaves:
        logit = model(input_ids=ids).logits[0, position, token]
    return slopes_times_values(logit, model, leaves) | {"logit": logit.detach()}


@pytest.mark.parametrize("family", STREAMS)
def test_every_part_is_its_gradient_times_its_value_where_norms_are_frozen(family):
    build, projection, _ = STREAMS[family]
    model, position = build(), 4
    ids = tokens()
    found = capture(model, input_ids=ids, residual=True, logits="all").logit_attribution(7, position=position)
    assert ("remainder" in found.rest) == (family in POST)
    assert (found.linearised is not None) == (family in POST + ON_THE_WAY)
    assert (found.positions is not None) == (family in (*POSITIONS, "roberta"))
    assert found.softcap == (30.0 if family == "gemma2" else None)
    for layer, head in ((0, 0), (1, 5), (2, 3)):
        assert_close(found.sources(layer, head).sum(1), found.heads[:, layer, head], rtol=1e-4, atol=1e-5)
    table = found.to_dataframe()
    model.config.final_logit_softcapping = None  # the logit before it
    for row in range(2):
        wanted = by_autograd(family, model, ids[row : row + 1], 7, position)
        close = {"rtol": 1e-4, "atol": 1e-4 * float(wanted["logit"].abs() + 1)}
        heads = torch.stack([wanted[f"heads {n}"].flatten(0, 1).sum(0).unflatten(0, (6, -1)).sum(-1) for n in range(3)])
        assert_close(found.heads[row], heads, **close)
        assert_close(found.mlps[row], torch.stack([wanted[f"mlp {n}"].sum() for n in range(3)]), **close)
        biases = [wanted.get(f"{projection.format(n)}.bias", torch.zeros(1)).sum() for n in range(3)]
        assert_close(found.biases[row], torch.stack(biases), **close)
        names = dict(model.named_modules())
        token = next(name for name, module in names.items() if module is model.get_input_embeddings())
        assert_close(found.embedding[row], wanted[token].sum(), **close)
        if family in POSITIONS:
            place = next(name for name in wanted if name.endswith(POSITIONS[family]))
            assert_close(found.positions[row], wanted[place].sum(), **close)
        for name, value in found.rest.items():
            if name in wanted or f"{name}.bias" in wanted:
                assert_close(value[row], wanted.get(name, wanted.get(f"{name}.bias")).sum(), **close)
            else:
                assert name == "remainder"
        assert_close(found.logit[row], wanted["logit"], **close)
        assert_close(found.total[row], wanted["logit"], **close)
        bars = sum(bar.value for bar in found.bars(row))
        assert [bars, table[table["batch"] == row]["value"].sum()] == pytest.approx(
            [float(wanted["logit"])] * 2, abs=1e-3
        )


@pytest.mark.parametrize(
    "name", ["biogpt", "deepseek_v3", "electra", "glm4", "gpt_oss", "minicpm3", "mixtral", "modernbert", "stablelm"]
)
def test_other_families_add_up_too(name):
    model = other_family(name)
    trace = capture(model, input_ids=text(model.config)["input_ids"], residual=True, logits="all")
    found = trace.logit_attribution(7, position=4)
    assert_close(found.total, trace.logits[:, 4, 7], rtol=1e-4, atol=1e-4)
    assert_close(found.sources(1, 1).sum(1), found.heads[:, 1, 1], rtol=1e-4, atol=1e-5)


UNTIED = {"tie_word_embeddings": False, "feed_forward_proj": "gated-gelu"}
#: how to build an encoder-decoder, what its projections of heads are called, and where its decoder's MLPs answer
ENCODER_DECODERS: dict[str, tuple[Any, str, str]] = {
    "t5, tied": (t5, "o", "decoder.block.{}.layer.2.DenseReluDense"),
    "t5, gated and not tied": (partial(t5, **UNTIED), "o", "decoder.block.{}.layer.2.DenseReluDense"),
    "bart": (partial(other_family, "bart"), "out_proj", "model.decoder.layers.{}.fc2"),
    "marian": (partial(other_family, "marian"), "out_proj", "model.decoder.layers.{}.fc2"),
}


@pytest.mark.parametrize("family", ENCODER_DECODERS)
def test_a_logit_is_the_sum_of_what_heads_and_mlps_of_the_decoder_write(family):
    build, projection, mlp = ENCODER_DECODERS[family]
    model, given = build(), {"input_ids": tokens(1), "decoder_input_ids": tokens(1, 5, seed=3)}
    found, mlps = capture(model, **given, residual=True).logit_attribution(7), [mlp.format(n) for n in range(2)]
    heads = {name: f"{name}.{projection}" for name in found.layers}
    with leaves_of(model, heads, dict(zip(mlps, mlps, strict=True))) as leaves:
        logit = model(**given).logits[0, -1, 7]
    terms = slopes_times_values(logit, model, leaves)
    for number, name in enumerate(found.layers):
        expected = terms[name][0].unflatten(-1, (found.heads.shape[2], -1)).sum((0, 2))
        assert_close(found.heads[0, number], expected, rtol=1e-4, atol=1e-5)
        assert_close(found.sources(number, 1).sum(1), found.heads[:, number, 1], rtol=1e-4, atol=1e-5)
    # a block's MLP runs behind its two layers
    assert_close(found.mlps[0, 1::2], torch.stack([terms[name].sum() for name in mlps]), rtol=1e-4, atol=1e-5)
    assert not found.mlps[0, ::2].any()
    assert_close(found.total[0], logit.detach(), rtol=1e-4, atol=1e-5)


def test_the_parts_of_a_lead_and_of_a_saved_trace_are_the_same(tmp_path):
    for family in ("gpt2", "bert", "gemma3", "granite"):
        trace = capture(STREAMS[family][0](), input_ids=tokens(), residual=True)
        found, one, other = (trace.logit_attribution(each) for each in (logit_diff(7, 9), 7, 9))
        for name in ("heads", "mlps"):
            lead = getattr(one, name) - getattr(other, name)
            assert_close(getattr(found, name), lead, rtol=1e-4, atol=1e-4)
        trace.save(tmp_path / family)
        opened = Trace.load(tmp_path / family)
        again = opened.logit_attribution(logit_diff(7, 9))
        for name in ("heads", "mlps", "biases", "embedding", "positions", "logit", "total"):
            assert_close(getattr(again, name), getattr(found, name))
        assert torch.equal(opened.residual[1], trace.residual[1])
        assert opened.residual.mlps == trace.residual.mlps
        assert str(again.linearised) == str(found.linearised)
        assert_close(opened.logit_lens(7).logits, trace.logit_lens(7).logits)


def test_a_source_is_what_the_head_s_part_loses_without_that_key():
    trace = capture(llama(), input_ids=tokens(), attention_mask=padded("right"), residual=True)
    found = trace.logit_attribution(7)
    direction = found.parts[0].through  # (B, H, Dv)
    for row, last in ((0, 3), (1, 6)):
        weights, values = trace[0].weights(4)[row, 0, last], trace[0].v[row, 4 // 3]
        assert_close(found.sources(0, 4)[row], (weights[:, None] * values) @ direction[row, 4])
        assert float(found.sources(0, 4)[row, last + 1 :].abs().sum()) == 0.0
    assert torch.equal(found.sources(-1, -3), found.sources(1, 3))
    with pytest.raises(Problem, match="layer=2 must be"):
        found.sources(2, 0)


@pytest.mark.parametrize("family", STREAMS)
def test_the_lens_ends_at_the_model_s_own_answer_and_reads_each_stream_by_its_own_norm(family):
    model = STREAMS[family][0]()
    trace = capture(model, input_ids=tokens(), residual=True, logits="all")
    lens = trace.logit_lens([7, 9], position=-2, n=3)
    chances = trace.logits[:, -2].softmax(-1)
    assert lens.logits.shape == (2, 4, 2)
    assert_close(lens.logits[:, -1], trace.logits[:, -2, [7, 9]], rtol=1e-4, atol=1e-3)
    assert_close(lens.probabilities[:, -1], chances[:, [7, 9]], rtol=1e-3, atol=1e-5)
    assert_close(lens.top_tokens[:, -1], chances.topk(3).indices)
    assert torch.equal(lens.ranks[:, -1, 0], (chances > chances[:, 7, None]).sum(-1) + 1)
    table = lens.to_dataframe().set_index(["batch", "depth", "token"])
    assert table.loc[(1, 3, 9), "rank"] == lens.ranks[1, 3, 1]
    assert table.loc[(0, 0, int(lens.top_tokens[0, 0, 1])), "rank"] == 2
    assert len(lens.plot().data) == 2
    with torch.no_grad():  # the middle places: the blocks from there on hand the stream on as they were given it
        modules, block = dict(model.named_modules()), trace.residual.blocks
        hooks = [
            modules[name].register_forward_hook(lambda m, x, y: (x[0], *y[1:]) if isinstance(y, tuple) else x[0])
            for name in block[1:]
        ]
        early = model(input_ids=tokens()).logits[:, -2]
        for hook in hooks:
            hook.remove()
    assert_close(lens.logits[:, 1], early[:, [7, 9]], rtol=1e-4, atol=1e-3)
