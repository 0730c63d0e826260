"""A score taken apart, against autograd over the same model with its norms frozen and its parts cut off as leaves."""

import pickle
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import pytest
import torch
from torch import Tensor, nn
from torch.testing import assert_close
from transformers import AttentionInterface, AutoModelForCausalLM, AutoModelForMaskedLM, AutoModelForSeq2SeqLM

from attnviz.base.message import Problem
from attnviz.models.capture import Trace, ablate, capture, intervene
from attnviz.models.capture.forward_pass import block_name
from tests.models.capture.family_inputs import text
from tests.models.capture.leaves import leaves_of, slopes_times_values
from tests.models.capture.tiny_config import changed, classes, tiny
from tests.models.tiny import eager, given_to, llama, padded, tokens
from tests.models.tiny_streams import BY_THEMSELVES, NAMES, STREAMS


class Family(NamedTuple):
    """How to build a family, and where it writes: projections of heads, and other modules by the names of parts."""

    build: Any
    projections: dict[str, str]
    others: dict[str, str]
    kind: str = "self"


def other_family(name: str) -> nn.Module:
    """A tiny model of that type, whose norms, biases and sinks are not 1 and 0."""
    _, config_class = classes(name)
    config = tiny(config_class, **changed(name, config_class))
    torch.manual_seed(0)
    other = AutoModelForMaskedLM if "bert" in name else AutoModelForCausalLM
    model = (AutoModelForSeq2SeqLM if config.is_encoder_decoder else other).from_config(config).eval()
    for parameter in model.parameters():
        parameter.data += 0.2 * torch.randn_like(parameter) if parameter.dim() == 1 else parameter.data
    return model


def named(pattern: str, count: int, part: str) -> dict[str, str]:
    return {part.format(n): pattern.format(n) for n in range(count)}


_LLAMA = ("model.layers.{}.self_attn.o_proj", "model.layers.{}.mlp")
_MORE = {
    "gpt_oss": _LLAMA,
    "deepseek_v3": _LLAMA,
    "mixtral": _LLAMA,
    "stablelm": _LLAMA,
    "falcon_h1": ("model.layers.{}.self_attn.o_proj", "model.layers.{}.feed_forward"),
}
FAMILIES = {
    name: Family(build, named(projection, 3, "{}"), named(mlp, 3, "mlp {}"))
    for name, (build, projection, mlp) in STREAMS.items()
} | {
    name: Family(partial(other_family, name), named(projection, 2, "{}"), named(mlp, 2, "mlp {}"))
    for name, (projection, mlp) in _MORE.items()
}  # fmt: skip
FAMILIES["falcon_h1"].others.update(named("model.layers.{}.mamba", 2, "mamba {}"))
FAMILIES["bart"] = Family(
    partial(other_family, "bart"),
    named("model.encoder.layers.{}.self_attn.out_proj", 2, "encoder {}")
    | named("model.decoder.layers.{}.self_attn.out_proj", 2, "{}")
    | named("model.decoder.layers.{}.encoder_attn.out_proj", 2, "cross {}"),
    named("model.encoder.layers.{}.fc2", 2, "encoder mlp {}") | named("model.decoder.layers.{}.fc2", 2, "mlp {}"),
    "cross",
)
FAMILIES["umt5"] = Family(
    partial(other_family, "umt5"),
    named("encoder.block.{}.layer.0.SelfAttention.o", 2, "encoder {}")
    | named("decoder.block.{}.layer.0.SelfAttention.o", 2, "{}")
    | named("decoder.block.{}.layer.1.EncDecAttention.o", 2, "cross {}"),
    named("encoder.block.{}.layer.1.DenseReluDense", 2, "encoder mlp {}")
    | named("decoder.block.{}.layer.2.DenseReluDense", 2, "mlp {}"),
    "cross",
)
LAYER = 1  #: scores are read in the second layer, which reads what the first one wrote


def inputs_of(family: str, model: nn.Module) -> dict[str, Tensor]:
    if FAMILIES[family].kind == "cross":
        return {"input_ids": tokens(), "decoder_input_ids": tokens(2, 5, seed=4)}
    return {"input_ids": tokens() if family in STREAMS else text(model.config)["input_ids"]}


def part_name(family: str, module: str) -> str:
    prefix = "encoder " if FAMILIES[family].kind == "cross" and "encoder." in module else ""
    last = module.rpartition(".")[2]
    return prefix + (
        "position"
        if "pos" in last or last == "wpe"
        else "token"
        if ("tok" in last and "type" not in last) or last in ("wte", "word_embeddings", "embed_in")
        else last
    )


def by_hand(
    family: str, model: nn.Module, inputs: dict[str, Tensor], layer: int, head: int, query: int, shares: Tensor
):
    """Parts of a query, with the scale, and of a mix of keys, (D,): gradients times values, by torch alone."""
    spec, calls = FAMILIES[family], []

    def attend(module: nn.Module, q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None, **options: Any):
        calls.append((module, q, k, options.get("scaling")))
        k, v = (t.repeat_interleave(q.shape[1] // t.shape[1], 1) for t in (k, v))
        return torch.zeros_like(q[..., :1]).expand(*q.shape[:-1], v.shape[-1]).transpose(1, 2), None

    outputs = [layer.head_outputs().transpose(1, 2).flatten(2) for layer in capture(model, **inputs, logits=None)]
    AttentionInterface.register("by_hand", attend)
    was = model.config._attn_implementation
    model.set_attn_implementation("by_hand")
    names = {module: name for name, module in model.named_modules()}
    with leaves_of(model, spec.projections, spec.others, iter(outputs)) as leaves:
        model(**inputs, use_cache=False) if "use_cache" in model.forward.__code__.co_varnames else model(**inputs)
    model.set_attn_implementation(was)
    wanted = [
        call
        for call in calls
        if (names[call[0]].endswith(("encoder_attn", "EncDecAttention"))) == (spec.kind == "cross")
    ]
    _, q, k, scale = wanted[layer]
    key = torch.einsum("k,kd->d", shares, k[0, head * k.shape[1] // q.shape[1]])
    scale = q.shape[-1] ** -0.5 if scale is None else scale

    def parts(vector: Tensor) -> dict[str, Tensor]:
        total: dict[str, list[Tensor]] = {}
        for number in vector:
            here: dict[str, Tensor] = {}
            for name, each in slopes_times_values(number, model, leaves).items():
                if name in spec.projections:
                    heads = each.unflatten(-1, (q.shape[1], -1)).sum((0, 1, 3))
                    here |= {f"{name}.{h}": one for h, one in enumerate(heads)}
                else:
                    part = name if name in spec.others else part_name(family, name) if name in leaves else "bias"
                    here[part] = here.get(part, 0.0) + each.sum()
            for name, each in here.items():
                total.setdefault(name, []).append(each)
        return {name: torch.stack(each) for name, each in total.items()}

    return parts(q[0, head, query] * scale), parts(key)


@pytest.mark.parametrize("family", [name for name in FAMILIES if name not in BY_THEMSELVES])
def test_products_of_parts_are_those_of_their_gradients_where_norms_are_frozen(family: str) -> None:
    spec = FAMILIES[family]
    model = spec.build()
    inputs = {name: value[:1] for name, value in inputs_of(family, model).items()}
    trace = capture(model, **inputs, residual=True)
    layer = trace.layer(LAYER, stack="decoder" if spec.kind == "cross" else None, kind=spec.kind)
    number = trace.layers.index(layer)
    head, query = 2, 4
    against: Any
    for against in ("competitors", 1, None):
        found = trace.score_attribution(number, head, query, 2, against=against)
        weights = layer.weights(head)[0, 0, query]
        shares = torch.zeros(layer.shape[3])
        if against == "competitors":
            shares = -weights / (1 - weights[2])
        elif against is not None:
            shares[against] = -1.0
        shares[2] = 1.0
        q, k = by_hand(family, model, inputs, LAYER, head, query, shares)
        assert set(found.parts) >= {name for name in (*q, *k) if float((q | k)[name].abs().max()) > 1e-6}
        width = next(iter(q.values())).shape
        none = torch.zeros(width)
        q_parts, k_parts = (torch.stack([side.get(name, none) for name in found.parts]) for side in (q, k))
        wanted = q_parts @ k_parts.mT
        assert_close(found.table[0], wanted, rtol=1e-4, atol=1e-5 * float(1 + wanted.abs().max()))


@pytest.mark.parametrize("family", NAMES)
@pytest.mark.parametrize("part", ["0.2", "mlp 1", "token"])
def test_a_cut_part_is_one_that_the_keys_or_the_query_did_not_read(family: str, part: str) -> None:
    """By hand: the stream is changed by a hook where the block begins, once for keys and once for queries."""
    spec, model, head, query, key = FAMILIES[family], FAMILIES[family].build(), 1, 5, 2
    inputs, block = {"input_ids": tokens(1)}, block_name(spec.projections["2"])
    found = capture(model, **inputs, residual=True).score_attribution(2, head, query, key)
    whole = capture(model, **inputs, logits=None)[2]
    before = whole.weights(head)[0, 0, query]
    assert_close(found.weight[0].float(), before[key], rtol=1e-4, atol=1e-6)
    written = written_by(model, spec, inputs, part, block)
    with given_to(model, block, lambda stream: stream - written):
        without = capture(model, **inputs, logits=None)[2]
    for side, changed_layer in {"key": replace(whole, k=without.k), "query": replace(whole, q=without.q)}.items():
        expected = changed_layer.weights(head)[0, 0, query]
        cut = found.cut(part, side)
        assert cut.weight == pytest.approx(float(expected[key]), abs=1e-5)
        assert_close(cut.row.float(), expected, rtol=1e-4, atol=1e-5)
        assert_close(cut.row_before.float(), before, rtol=1e-4, atol=1e-5)
        assert cut.log_odds == pytest.approx(float(torch.logit(expected[key].double())), abs=1e-3)
        margin = (found.by_key if side == "key" else found.by_query)[0, found.parts.index(part)]
        assert cut.estimate == pytest.approx(float(found.log_odds - margin), abs=1e-4)


def written_by(model: nn.Module, spec: Family, inputs: dict[str, Tensor], part: str, read: str) -> Tensor:
    """What a part left in the stream at `read`, (1, T, M): slopes of the stream, norms frozen, times its value."""
    streams: list[Tensor] = []
    with leaves_of(model, spec.projections, spec.others) as leaves:
        hook = model.get_submodule(read).register_forward_pre_hook(lambda m, x: streams.append(x[0]))
        model(**inputs)
        hook.remove()
    embeddings = next(name for name, each in model.named_modules() if each is model.get_input_embeddings())
    value, stream = leaves[embeddings if part == "token" else part.split(".")[0]], streams[0]
    only = torch.zeros_like(value)
    columns = slice(None) if part not in spec.projections and "." not in part else slice(16, 24)  # the third head's
    only[..., columns] = value.detach()[..., columns]
    every = torch.eye(stream.numel()).view(-1, *stream.shape)
    (slopes,) = torch.autograd.grad(stream, value, every, is_grads_batched=True)
    return (slopes * only).flatten(1).sum(1).view_as(stream)


def test_an_mlp_is_switched_off_in_the_whole_model_and_an_embedding_is_not() -> None:
    model, ids = llama(num_hidden_layers=3), tokens(1)
    found = capture(model, input_ids=ids, residual=True).score_attribution(2, 1, 5, 2)
    with given_to(model, "model.layers.1.mlp", torch.zeros_like, answers=True):
        expected = eager(model, input_ids=ids).attentions[2][0, 1, 5, 2]
    assert found.cut("mlp 1").total == pytest.approx(float(expected), abs=1e-5)
    assert found.cut("token").total is None
    assert found.cut("bias").total is None


@pytest.mark.parametrize("family", FAMILIES)
def test_parts_add_up_to_the_log_odds_and_sources_to_their_part(family: str) -> None:
    spec = FAMILIES[family]
    model = spec.build()
    trace = capture(model, **inputs_of(family, model), residual=True)
    layer = trace.layer(1, stack="decoder" if spec.kind == "cross" else None, kind=spec.kind)
    number, pairs = trace.layers.index(layer), [(4, 2), (3, 1)]
    found = trace.score_attribution(number, 2, pairs=pairs)
    weights = torch.stack([layer.weights(2)[:, 0, query, key] for query, key in pairs])
    assert_close(found.weight.float(), weights.mean(0), rtol=1e-4, atol=1e-6)
    assert_close(found.log_odds.float(), torch.logit(weights).mean(0), rtol=0, atol=1e-3)
    together = found.table.sum((1, 2)) + found.position + found.sink
    assert_close(together, found.score - found.baseline, rtol=0, atol=1e-3)
    assert_close(together + found.capped - found.entropy, found.log_odds, rtol=0, atol=1e-3)
    singly = [trace.score_attribution(number, 2, *pair).table for pair in pairs]
    assert_close(found.table, (singly[0] + singly[1]) / 2, rtol=1e-4, atol=1e-6)
    if spec.kind == "self":
        without = intervene(model, ablate(0, 1), **inputs_of(family, model))[number].weights(2)[:, 0, 4, 2]
        cut = trace.score_attribution(number, 2, *pairs[0]).cut("0.1")
        assert cut.total == pytest.approx(float(without[0]), abs=1e-5)
    for part in [name for name in found.parts if name.rpartition(".")[2].isdigit()][::4]:
        index = found.parts.index(part)
        for sources, margin in ((found.by_key_source, found.by_key), (found.by_query_source, found.by_query)):
            assert_close(sources(part).sum(1), margin[:, index], rtol=1e-3, atol=1e-5)


def test_a_table_of_parts_has_its_largest_a_frame_and_a_picture() -> None:
    found = capture(llama(), input_ids=tokens(), residual=True).score_attribution(1, 2, pairs=[(4, 2), (3, 1)])
    rows, columns, table = found.compact(3, row=1)
    assert len(rows) == len(columns) == 4
    assert rows[-1] == columns[-1] == "others"
    assert_close(table.sum(), found.table[1].sum(), rtol=1e-4, atol=1e-5)
    frame = found.to_dataframe()
    assert len(frame) == found.table.numel()
    best = found.top(1, row=1)[0]
    cell = frame[(frame.batch == 1) & (frame.query_part == best[0]) & (frame.key_part == best[1])]
    assert cell["value"].item() == pytest.approx(best[2])
    assert found.plot().data


def test_each_row_of_a_padded_batch_is_taken_apart_as_if_alone() -> None:
    model, ids, mask = llama(), tokens(), padded("left")
    found = capture(model, input_ids=ids, attention_mask=mask, residual=True).score_attribution(1, 3, 6, 4)
    for row, start in ((0, 3), (1, 0)):
        trace = capture(model, input_ids=ids[row : row + 1, start:], residual=True)
        alone = trace.score_attribution(1, 3, 6 - start, 4 - start)
        assert alone.parts == found.parts
        assert_close(found.table[row], alone.table[0], rtol=1e-3, atol=1e-4)
        assert_close(found.weight[row], alone.weight[0])


def test_what_cannot_be_taken_apart_is_refused_in_a_sentence(tmp_path: Any) -> None:
    model = llama()
    trace = capture(model, input_ids=tokens(1), residual=True)
    trace.save(tmp_path / "trace")
    last = {"query": 4, "key": 2}
    for asked_of, asked, said in (
        (capture(model, input_ids=tokens(1)), last, "needs a capture with residual=True"),
        (Trace.load(tmp_path / "trace"), last, "not a trace from a file"),
        (pickle.loads(pickle.dumps(trace)), last, "not a trace from a file"),
        (capture(other_family("xlnet"), input_ids=tokens(1)), last, "gives its weights only"),
        (trace, {"query": 2, "key": 4}, "query 2 cannot see key 4"),
        (trace, {"query": 0, "key": 0}, "sees one key only"),
        (trace, {"query": 9, "key": 0}, "query=9 must be a whole number from -7 to 6"),
    ):
        with pytest.raises(Problem, match=said):
            asked_of.score_attribution(1, 0, **asked)
    found = trace.score_attribution(-1, -1, -1, -2)
    assert found.source.head == 5
    assert found.pairs[0][0][:2] == (6, 5)
