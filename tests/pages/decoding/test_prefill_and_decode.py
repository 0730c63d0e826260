import pytest

from attnviz.core.costs import Machine, decode_step
from attnviz.pages.decoding.maths import prefill_and_decode
from attnviz.pages.decoding.maths.prefill_and_decode import ideal_passes, measure
from tests.pages.decoding.conftest import of_family

A100 = Machine(312 * 10**12, 2039 * 10**9, 80 << 30)


@pytest.fixture
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("ATTNVIZ_CACHE", str(tmp_path))
    return tmp_path


@pytest.mark.parametrize("family", ["core", "llama"])
def test_the_formula_is_what_the_measured_passes_count(family, monkeypatch):
    decoder = of_family(family)
    monkeypatch.setattr(prefill_and_decode, "FORMULA_PROMPTS", prefill_and_decode.PROMPTS)
    monkeypatch.setattr(prefill_and_decode, "FORMULA_CONTEXTS", prefill_and_decode.CONTEXTS)
    monkeypatch.setattr(prefill_and_decode, "ROUNDS", 1)
    *_partial, whole = measure(decoder)
    assert whole.done
    formula = ideal_passes(decoder, 4)
    assert [(p.kind, p.tokens, p.context) for p in whole.points] == [(p.kind, p.tokens, p.context) for p in formula]
    assert [p.flops for p in whole.points] == [p.flops for p in formula]
    assert [p.nbytes for p in whole.points] == [p.nbytes for p in formula]
    assert all(p.seconds > 0 for p in whole.points)


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


@pytest.mark.parametrize("damage", ["", "{", "[]", '{"format": 0}', '{"format": 1, "measured": 3}'])
def test_a_damaged_file_is_no_measurement(cache, damage):
    path = prefill_and_decode.measurement_path("core")
    path.parent.mkdir(parents=True)
    path.write_text(damage)
    assert prefill_and_decode.find_measurement("core") is None
