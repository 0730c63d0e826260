import pytest

from attnviz.models.architecture.published_claims import published_claims

FOUND = {claim.id: claim for claim in published_claims()}


@pytest.mark.parametrize("claim", [claim for claim in FOUND.values() if claim.verdict == "yes"], ids=lambda c: c.id)
def test_a_number_called_reproduced_is_what_was_printed(claim):
    assert claim.computed == pytest.approx(claim.published, rel=0.025)  # "1.6 GB" is 1.5625 GiB


def test_numbers_called_wrong_are_off_by_more_than_rounding():
    wrong = [claim for claim in FOUND.values() if claim.verdict == "no"]
    assert {claim.id for claim in wrong} == {"405b-over-v3"}
    assert FOUND["405b-over-v3"].computed == pytest.approx(7.34, abs=0.005)


def test_the_405b_figure_is_the_first_releases_with_16_kv_heads():
    claim = FOUND["jamba-405b"]
    assert claim.verdict == "condition"
    assert claim.published == 2 * claim.computed  # twice what the files of today, with 8, need
    assert claim.reason.params["twice"] == 126 * 2 * 16 * 128 * 2 * 262144 / 2**30 == claim.published


def test_the_93_percent_needs_six_bits_on_one_side():
    claim = FOUND["v2-smaller"]
    assert claim.computed == pytest.approx(82.2, abs=0.05)
    assert claim.reason.params["at_six"] == 93.3
