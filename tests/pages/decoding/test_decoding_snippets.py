"""The programs that the page shows, run: they print the page's own numbers."""

import pytest

from attnviz.core.costs import Machine
from attnviz.core.precision import PLAIN_BITS
from attnviz.models.architecture import Architecture
from attnviz.pages.decoding.maths import (
    cache_traps,
    decoding_snippets,
    growing_bytes,
    kept_positions,
    prefill_and_decode,
    quantised_cache,
    token_by_token,
)
from attnviz.pages.decoding.maths.decoders import ModelDecoder
from attnviz.runs.word_vectors import sentence
from tests.pages.conftest import ran
from tests.pages.decoding.conftest import of_family

TEXT = 'the "cat" sat on the mat'


def printed(code):
    return ran(code)[1]


def last(results):
    *_partial, whole = results
    return whole


def test_steps_of_the_core():
    config = token_by_token.Config(TEXT, 5)
    result = last(token_by_token.run(of_family("core"), config))
    said = printed(decoding_snippets.steps("core", config, result))
    assert f"tokens processed: {result.context} with a cache" in said
    assert float(said.rsplit(maxsplit=1)[-1]) < 1e-4


@pytest.mark.slow
def test_steps_of_a_trained_model(smollm2):
    config = token_by_token.Config(TEXT, 3)
    result = last(token_by_token.run(ModelDecoder(smollm2), config))
    said = printed(decoding_snippets.steps("smollm2-135m", config, result))
    assert f"tokens processed: {result.context} with a cache" in said
    assert float(said.rsplit(maxsplit=1)[-1]) < 1e-3


@pytest.mark.parametrize("dtype", PLAIN_BITS)
@pytest.mark.parametrize("at", [-1, 40])
def test_growing(dtype, at):
    result = growing_bytes.run(Architecture.preset("gpt2"), growing_bytes.Config(8192, dtype))
    said = printed(decoding_snippets.growing(result, at))
    *heads, latent = result.models[1].schemes
    assert [scheme.name for scheme in heads] == ["MHA", "GQA", "MQA"]
    for scheme in heads:
        assert f"{scheme.name}, {scheme.kv_heads} K/V heads: {scheme.bytes[at]:,} bytes" in said
    assert f"MLA, one latent and a rotary key: {latent.bytes[at]:,} bytes" in said


def test_policies():
    result = last(kept_positions.run(of_family("core"), kept_positions.Config(TEXT, 2)))
    for kind, budget, shown in (("heavy", 8, (2, 1)), ("random", 4, (0, 0))):
        kept = result.at(kind, budget)
        said = printed(decoding_snippets.policy("core", TEXT, result, kind, budget, shown))
        assert f"KL {kept.moved.kl.mean():.4f} nats, loss {kept.moved.loss:.4f}" in said
        assert f"stays in {kept.moved.same.mean():.0%}" in said
        assert f"held in {kept.positions[*shown, :, 0].sum()} of {result.total - result.prompt} rows" in said
        assert said.strip().endswith(str(kept.positions[*shown, -1].nonzero()[0].tolist()))


def test_quantised():
    result = last(quantised_cache.run(of_family("core"), TEXT))
    said = printed(decoding_snippets.quantised("core", TEXT, result))
    for made in result.formats:
        expected = f"int{made.bits} by {made.axis}: {made.nbytes} bytes"
        assert f"{expected}, a logit moves by up to {made.moved.largest.mean():.4f}" in said
        assert f"loss {made.moved.loss:.3f}, same likeliest token {made.moved.same.mean():.0%}" in said
        assert f"keys off by {made.k_error.mean():.1%}, values by {made.v_error.mean():.1%}" in said


@pytest.mark.parametrize("peak", [10**9, 10**14])
def test_roofline(peak):
    machine = Machine(peak, 10**10, 1)
    points = prefill_and_decode.by_formula(of_family("core"), 2)
    said = printed(decoding_snippets.roofline(machine, points)).splitlines()
    for line, point in zip(said, points, strict=True):
        best = point.at_best(machine)
        bound = {"compute": "computing", "memory": "reading"}[best.bound]
        assert line.startswith(f"{point.kind} of {point.tokens}: {point.intensity:.3g} FLOPs a byte")
        assert line.endswith(f"{best.seconds:.3g} s, {bound}")


@pytest.mark.parametrize("words", [tuple(TEXT.split()), ("one",), ("a", "b"), ("it's", "<b>x</b>", "a\\")], ids=len)
@pytest.mark.parametrize("trap", cache_traps.CACHE_TRAPS)
def test_traps(trap, words):
    code = cache_traps.program(cache_traps.CACHE_TRAPS[trap], words, 7)
    if code is None:
        assert (trap, len(words)) == ("wrong_dimension", 1)
        return
    largest = cache_traps.CACHE_TRAPS[trap].run(sentence(words, 7)).largest
    assert printed(code).splitlines()[-1] == f"largest difference of a weight: {largest:.3f}"


def test_the_program_of_the_wrong_dimension_prints_both_shapes():
    said = printed(cache_traps.program(cache_traps.CACHE_TRAPS["wrong_dimension"], tuple("abcdef"), 0))
    assert "keys (heads, tokens, width): (2, 3, 16) (1, 6, 16)" in said
