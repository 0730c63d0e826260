"""What heads are called, and how two measures of them go together."""

import numpy as np
import pytest
from scipy import stats

from attnviz.pages.heads.maths import head_survey

PLACES = ((0, 0), (0, 1), (1, 0), (1, 1))


def summary(mean: list[float]) -> head_survey.MeasureSummary:
    values, none = np.array(mean), np.zeros((4, 5))
    return head_survey.MeasureSummary(values, values / 10, values, np.full(4, 7), none - 1, none)


SURVEY = head_survey.Survey(
    PLACES,
    {"induction": summary([0.1, 0.9, 0.5, np.nan]), "first_token": summary([0.95, 0.6, 0.2, 0.49])},
    (),
)


def test_a_head_is_named_from_half_of_its_weight_on_and_may_have_two_names() -> None:
    named = [("induction", 1), ("induction", 2), ("first_token", 0), ("first_token", 1)]
    assert head_survey.named(SURVEY) == named
    assert list(head_survey.names_of(SURVEY, 1).items()) == [("induction", 0.9), ("first_token", 0.6)]
    assert head_survey.names_of(SURVEY, 3) == {}
    assert [head_survey.count_of(SURVEY, kind) for kind in SURVEY.measures] == [2, 2]
    assert head_survey.named(SURVEY, most=1) == [named[0], named[2]]


def test_the_rank_correlation_is_spearmans() -> None:
    draw = np.random.default_rng(0)
    a = draw.integers(0, 6, 40).astype(float)  # ties
    b = a + draw.normal(size=40)
    a[3] = b[7] = np.nan
    expected = stats.spearmanr(a, b, nan_policy="omit").statistic
    assert head_survey.rank_correlation(a, b) == pytest.approx(expected, abs=1e-12)
    assert np.isnan(head_survey.rank_correlation(np.ones(9), b[:9]))
    assert np.isnan(head_survey.rank_correlation(a[:2], b[:2]))
