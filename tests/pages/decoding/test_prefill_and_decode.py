import pytest

from attnviz.pages.decoding.maths import prefill_and_decode
from attnviz.pages.decoding.maths.prefill_and_decode import ideal_passes, pass_flops
from tests.pages.decoding.conftest import of_family


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
