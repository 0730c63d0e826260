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
