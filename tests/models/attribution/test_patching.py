"""Activation patching against torch's own hooks and against finite differences."""

from functools import partial
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.testing import assert_close

import attnviz as av
from attnviz.base.message import Problem
from attnviz.models.attribution.circuit import find_circuit
from attnviz.models.attribution.patching import Site, activation_patching, attribution_patching
from attnviz.models.attribution.path_patching import path_patching
from attnviz.models.capture import attention_weight, capture, logit_diff
from attnviz.models.capture.forward_pass import block_name
from tests.models import tiny
from tests.models.capture.plain_models import Own
from tests.models.tiny import eager, given_to, llama, tokens
from tests.models.tiny_streams import STREAMS

#: in a family's register, or a plain model: how to build it, its output projections, and its MLPs if it has any
MODELS: dict[str, Any] = {name: STREAMS[name] for name in ("llama", "bert", "gemma2", "bloom", "falcon")}
MODELS["own"] = (lambda: Own().eval(), "h.{}.out_proj", None)
CLEAN, CORRUPTED = tokens(1, 7), tokens(1, 7, seed=5)
#: layers and blocks of an encoder-decoder, in the order of their numbers
T5_LAYERS = [f"encoder.block.{n}.layer.0.SelfAttention.o" for n in range(2)]
T5_LAYERS += [f"decoder.block.{n}.layer.{at}.o" for n in range(2) for at in ("0.SelfAttention", "1.EncDecAttention")]
T5_BLOCKS = [f"{stack}.block.{n}" for stack in ("encoder", "decoder") for n in range(2)]
TOKEN, VERSUS = 7, 11
METRIC = logit_diff(TOKEN, VERSUS)


def t5(**changes: Any) -> nn.Module:
    """Of 4 heads, whose norms are not 1."""
    model = tiny.t5(**changes)
    for parameter in model.parameters():
        parameter.data += 0.2 * torch.randn_like(parameter)
    return model


MODELS["t5"] = (partial(t5, feed_forward_proj="gated-gelu"), None, None)  # smooth: slopes are taken by steps


def prompts(name: str) -> tuple[Any, Any]:
    """What that model is given, clean and corrupted."""
    if name != "t5":
        return CLEAN, CORRUPTED
    clean, corrupted = ({"input_ids": ids, "decoder_input_ids": ids.flip(1)[:, :5]} for ids in (CLEAN, CORRUPTED))
    return clean, corrupted


def lead(model: nn.Module, given: Any, position: int = -1) -> float:
    output = model(**given) if isinstance(given, dict) else model(given)
    logits = getattr(output, "logits", output)[0, position].double()
    return float((logits[TOKEN] - logits[VERSUS]).detach())


def by_hooks(name: str, model: nn.Module, site: Site, share: float = 1.0, position: int = -1) -> float:
    """What that share of the way from the corrupted to the clean value of one site adds to the lead."""
    mlp = MODELS[name][2]
    first_prompt, second_prompt = prompts(name)
    rows = slice(None) if site.position is None else site.position
    clean: list[Tensor] = []

    def put(given: Tensor) -> Tensor:
        if not clean:
            clean.append(given.clone())
            return given
        width = given.shape[-1] if site.head is None else given.shape[-1] // heads_of(model)
        first = 0 if site.head is None else site.head * width
        part = (0, rows, slice(first, first + width))
        given[part] += share * (clean[0][part] - given[part])
        return given

    answers = site.part == "mlp"
    with given_to(model, mlp.format(site.layer) if answers else place_of(name, site), put, answers):
        lead(model, first_prompt)
        after = lead(model, second_prompt, position)
    with torch.no_grad():
        return after - lead(model, second_prompt, position)


def place_of(name: str, site: Site) -> str:
    """The module that is given the site's numbers."""
    if name == "t5":
        return (T5_BLOCKS if site.part == "resid" else T5_LAYERS)[site.layer]
    projection = MODELS[name][1].format(site.layer)
    return block_name(projection) if site.part == "resid" else projection


def heads_of(model: nn.Module) -> int:
    return int(getattr(getattr(model, "config", None), "num_attention_heads", 4))


def sites_of(name: str) -> list[Site]:
    """Heads, streams and what layers write, at one position and at all."""
    sites = [Site(1, 2), Site(0, 1, 2), Site(0, 2, 6), Site(1, 0, 6), Site(0, "resid", 3), Site(1, "resid", 6)]
    sites += [Site(0, "attn", 4), Site(1, "attn")]
    if name == "t5":
        return [*sites, Site(3, 1, 2), Site(4, 2), Site(5, 0, 4), Site(2, "resid", 3), Site(3, "resid", 0)]
    return sites if name == "own" else [*sites, Site(0, "mlp", 3), Site(1, "mlp")]  # whose blocks have no MLP


@pytest.mark.parametrize("name", MODELS)
def test_the_linearised_effect_is_the_slope_towards_the_clean_run(name: str) -> None:
    model = MODELS[name][0]().double()
    found = attribution_patching(model, *prompts(name), METRIC)
    blocks, layers = len(found.streams), len(av.capture(model, prompts(name)[0]))
    assert found.heads.shape == (layers, heads_of(model), 7)
    assert found.streams.shape == (blocks, 7)
    sites = [Site(0, 3), Site(1), *sites_of(name)]
    if name == "own":
        with pytest.raises(Problem, match="MLPs of this model cannot be told"):
            _ = found.mlps
    elif name == "t5":
        assert bool(found.heads[-1, :, 5:].isnan().all()), "the decoder has five positions"
        assert bool(found.by_head.isfinite().all())
    else:
        assert set(found.top(4, "mlps")) == {Site(layer, "mlp") for layer in range(blocks)}
        if name == "gemma2":  # there the hook is before a norm
            sites = sites[:-2]
    for site in sites:
        far, near = (
            (by_hooks(name, model, site, step) - by_hooks(name, model, site, -step)) / (2 * step)
            for step in (0.02, 0.01)  # not smaller: these models' norms compute in float32
        )
        assert found.at(site) == pytest.approx((4 * near - far) / 3, rel=3e-3 if name == "t5" else 1e-3, abs=1e-4)
    assert abs(found.at(Site(0, 3))) > 1e-3
    assert found.by_head[0, 3] == pytest.approx(found.at(Site(0, 3)))


@pytest.mark.parametrize("at_once", [1, 3])
@pytest.mark.parametrize("name", MODELS)
def test_exact_cells_are_those_of_hooks(name: str, at_once: int) -> None:
    model = MODELS[name][0]()
    sites = [*sites_of(name), Site(1, "resid", -1), Site(-1, -1)]
    made = list(activation_patching(model, *prompts(name), METRIC, sites, at_once=at_once))
    last = Site({"own": 1, "t5": 5}.get(name, 2), heads_of(model) - 1)
    counted = [last if site.layer < 0 else site for site in sites]
    expected = [by_hooks(name, model, site) for site in counted]
    assert [value for _, value in made] == pytest.approx(expected, abs=2e-5)
    assert [site for site, _ in made] == sites, "as they were given"
    assert max(map(abs, expected)) > 0.1


def test_of_another_position_and_of_prompts_with_padding() -> None:
    model = llama()
    site = Site(0, 4)
    ((_, value),) = activation_patching(model, CLEAN, CORRUPTED, METRIC, [site], position=-3)
    assert value == pytest.approx(by_hooks("llama", model, site, position=-3), abs=2e-5)
    mask = torch.tensor([[0, 0, 1, 1, 1, 1, 1, 1, 1]])
    padded = [
        {"input_ids": torch.cat([torch.zeros(1, 2, dtype=torch.long), ids], 1), "attention_mask": mask}
        for ids in (CLEAN, CORRUPTED)
    ]
    found = attribution_patching(model, *padded, METRIC)
    alone = attribution_patching(model, CLEAN, CORRUPTED, METRIC)
    assert_close(found.heads[..., 2:], alone.heads, atol=1e-5, rtol=1e-4)
    assert found.heads[..., :2].abs().max() == 0


def test_pairs_in_a_batch_are_each_pair_alone_with_their_mean_and_error() -> None:
    model, clean, corrupted = llama(), tokens(3, 7), tokens(3, 7, seed=5)
    metric = logit_diff([7, 8, 9], [11, 12, 13])
    sites = [Site(0, 3), Site(1, "mlp", 4), Site(1, "resid", -1), Site(0, "attn")]
    every = attribution_patching(model, clean, corrupted, metric)
    exact = dict(activation_patching(model, clean, corrupted, metric, sites, at_once=3))
    paths = dict(path_patching(model, clean, corrupted, metric, [(0, 3), (0, 1)], [(1, 2, "q")], mlps="frozen"))
    alone: dict[Any, list[float]] = {}
    for row, pair in enumerate([(7, 11), (8, 12), (9, 13)]):
        prompts = clean[row : row + 1], corrupted[row : row + 1]
        found = attribution_patching(model, *prompts, logit_diff(*pair))
        assert every.effect((0, 3)).by_prompt[row] == pytest.approx(found.at((0, 3)), abs=1e-5)
        for site, value in activation_patching(model, *prompts, logit_diff(*pair), sites):
            alone.setdefault(site, []).append(value)
        for sender, value in path_patching(
            model, *prompts, logit_diff(*pair), [(0, 3), (0, 1)], [(1, 2, "q")], mlps="frozen"
        ):
            alone.setdefault(sender, []).append(value)
    assert exact.keys() | paths.keys() == alone.keys() | {Site(0, 3)}
    for site, effect in (exact | paths).items():
        single = torch.tensor(alone[site])
        single = single[3:] if site in paths and site in exact else single
        assert_close(effect.by_prompt, single, rtol=1e-4, atol=1e-5)
        assert effect == pytest.approx(float(single.mean()), abs=1e-5)
        assert effect.stderr == pytest.approx(float(single.std() / 3**0.5), abs=1e-5)
    with pytest.raises(Problem, match="3 clean prompts and 1 corrupted"):
        attribution_patching(model, clean, CORRUPTED, metric)


def test_a_metric_is_a_token_a_difference_of_sets_a_function_or_a_weight() -> None:
    model, site = llama(), Site(0, 3)

    def effects(metric: Any) -> list[float]:
        ((_, exact),) = activation_patching(model, CLEAN, CORRUPTED, metric, [site])
        circuit = find_circuit(model, CLEAN, CORRUPTED, metric, by="resample", sizes=[3])
        ((_, path),) = path_patching(model, CLEAN, CORRUPTED, metric, [site])
        return [exact, path, *circuit.kept, attribution_patching(model, CLEAN, CORRUPTED, metric).at(site)]

    assert effects(lambda logits: logits[:, TOKEN] - logits[:, VERSUS]) == pytest.approx(effects(METRIC), abs=1e-5)
    assert effects({3, 7}) == pytest.approx(effects(lambda logits: logits[:, [3, 7]].mean(1)), abs=1e-5)
    both = logit_diff({3, 7}, {4, 5, 6})
    assert effects(both) == pytest.approx(effects(lambda x: x[:, [3, 7]].mean(1) - x[:, 4:7].mean(1)), abs=1e-5)
    parts = capture(model, CLEAN, residual=True)
    assert_close(parts.logit_attribution(both).total, both_of(parts.logits), rtol=1e-4, atol=1e-4)
    clean = capture(model, CLEAN)[0].head_outputs()[:, 3]
    weight = attention_weight(1, 2, -1, 3)
    ((_, effect),) = activation_patching(model, CLEAN, CORRUPTED, weight, [site])

    def put(given: Tensor) -> Tensor:
        given[..., 24:32] = clean
        return given

    with given_to(model, "model.layers.0.self_attn.o_proj", put):
        after = eager(model, input_ids=CORRUPTED).attentions[1][0, 2, -1, 3]
    before = eager(model, input_ids=CORRUPTED).attentions[1][0, 2, -1, 3]
    assert effect == pytest.approx(float(after - before), abs=1e-6)
    slope = attribution_patching(model, CLEAN, CORRUPTED, weight)
    assert slope.before == pytest.approx(float(before), abs=1e-6)
    assert slope.at(Site(0, "resid")) != 0
    assert slope.at(Site(1, "mlp")) == 0, "what comes after the weight"


def both_of(logits: Any) -> Tensor:
    return logits[:, [3, 7]].mean(1) - logits[:, 4:7].mean(1)


def test_effects_come_as_a_table_and_a_picture() -> None:
    found = attribution_patching(llama(), tokens(3), tokens(3, seed=5), METRIC)
    table = found.to_dataframe().set_index(["layer", "part", "position"])
    assert len(table) == 2 * (6 + 1 + 1) * 7
    for site in ((1, 4, 6), (0, "mlp", 2), (1, "resid", 3)):
        effect = found.effect(site)
        assert_close(torch.tensor(table.loc[site].tolist()), torch.tensor([float(effect), effect.stderr]))
    assert_close(torch.tensor(found.plot().data[0].z), found.by_head, check_dtype=False)


def test_the_words_of_the_version_before_still_do() -> None:
    model = llama()
    with pytest.warns(DeprecationWarning, match="av.Cell is called av.Site now"):
        old = [av.Cell(0, 3), av.Cell(1, None, 3)]  # type: ignore[attr-defined]
    new = [value for _, value in activation_patching(model, CLEAN, CORRUPTED, METRIC, old)]
    calls: list[Any] = [
        lambda: activation_patching(model, CLEAN, CORRUPTED, 7, old, 11),
        lambda: activation_patching(model, CLEAN, CORRUPTED, token=7, versus=11, cells=[(0, 3), (1, None, 3)]),
    ]
    for call in calls:
        with pytest.warns(DeprecationWarning, match="metric=av.logit_diff"):
            assert [value for _, value in call()] == new
    trace = capture(model, CLEAN, residual=True)
    with pytest.warns(DeprecationWarning, match="metric=av.logit_diff"):
        assert_close(trace.logit_attribution(7, 11, -2).heads, trace.logit_attribution(METRIC, position=-2).heads)


def test_prompts_of_other_lengths_paths_from_no_head_and_tools_of_one_list_are_refused() -> None:
    model, (clean, corrupted) = t5(), prompts("t5")
    shorter = corrupted | {"decoder_input_ids": tokens(1, 4)}
    one_list = "one list of self-attention layers"
    for call, said in (
        (
            lambda: attribution_patching(model, clean, shorter, METRIC),
            "clean prompt has 5 tokens and the corrupted one 4",
        ),
        (lambda: [*path_patching(model, clean, corrupted, METRIC, [Site(0, "mlp")])], "a path begins in a head"),
        (lambda: find_circuit(model, clean, corrupted, METRIC), one_list),
        (lambda: av.head_circuits(model, 0, 0), one_list),
        (lambda: av.composition_scores(model), one_list),
    ):
        with pytest.raises(Problem, match=said):
            call()
