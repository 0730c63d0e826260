"""A packaged model with trained weights against known behaviour."""

import pytest

from attnviz.models.capture.run import capture

pytestmark = pytest.mark.numbers


def test_smollm2_looks_after_the_word_s_first_time_because_an_earlier_head_marked_it(smollm2):
    """Head 16.0 writes "after stone" into the key of *green*; head 18.6 looks from the second *stone* for that."""
    trace = capture(smollm2, " river stone green cable plant" * 2, residual=True)
    stone, green = 6, 2
    found = trace.score_attribution(18, 6, stone, green)
    assert found.parts[int(found.by_key[0].argmax())] == "16.0"
    assert found.top(1)[0][:2] == ("mlp 0", "16.0")
    assert float(found.by_key_source("16.0").argmax()) == 1  # the first *stone*
    assert float(found.log_odds) == pytest.approx(float(found.score - found.baseline - found.entropy), abs=1e-3)
    assert float(found.table.sum()) == pytest.approx(float(found.score - found.baseline), abs=1e-3)
    cut = found.cut("16.0")
    assert cut.weight_before > 0.75
    assert cut.weight < 0.01
    assert cut.total < 0.5
    for other in ("16.3", "15.0", "14.5", "10.2"):
        assert found.cut(other).weight == pytest.approx(cut.weight_before, abs=0.06)
