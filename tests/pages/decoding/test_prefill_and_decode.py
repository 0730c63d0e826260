import pytest

from attnviz.core.costs import Machine, decode_step
from attnviz.pages.decoding.maths import prefill_and_decode
from attnviz.pages.decoding.maths.prefill_and_decode import ideal_passes, pass_flops
from tests.pages.decoding.conftest import of_family

A100 = Machine(312 * 10**12, 2039 * 10**9, 80 << 30)


@pytest.mark.parametrize("family", ["core", "llama"])
def test_the_formula_is_what_passes_count(family, monkeypatch):
    decoder, ids = of_family(family), tuple(range(32, 96))
    monkeypatch.setattr(prefill_and_decode, "PROMPTS", (1, 16, 64))
    monkeypatch.setattr(prefill_and_decode, "CONTEXTS", (16, 63))
    for point in ideal_passes(decoder, 4):
        before = decoder.process(ids[: point.context - point.tokens]).cache if point.kind == "decode" else None
        layers = decoder.process(ids[: point.tokens], before).layers
        assert point.flops == pass_flops(decoder, layers, point.tokens)
        cached = sum(tensor.nbytes for layer in layers for tensor in layer.qkv[1:])
        cached = cached * (point.context - point.tokens) // point.context
        assert point.nbytes == 4 * sum(decoder.count_matrix_entries()) + cached


def test_the_best_time_of_a_decoded_token_is_that_of_the_core_s_roofline():
    decoder = of_family("core")
    body, head = decoder.count_matrix_entries()
    point = next(p for p in ideal_passes(decoder, 2) if p.kind == "decode")
    attention = point.flops - 2 * (body + head)
    cached = point.nbytes - 2 * (body + head)
    theirs = decode_step(
        A100,
        parameters=body + head,
        weight_bytes=2 * (body + head),
        attention_flops=attention,
        cache_bytes=cached,
        batch=1,
    )
    assert point.best_case(A100).seconds == pytest.approx(theirs.seconds)
    assert point.best_case(A100).bound == "memory"
