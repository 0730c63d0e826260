"""A survey sums up what scan and costs find, on sentences that are cut where a token ends."""

from dataclasses import fields

import numpy as np
import pytest

from attnviz.analysis.heads import batches
from attnviz.analysis.heads.scan import HeadScores
from attnviz.models.catalogue import LoadedModel
from attnviz.models.loading import load
from attnviz.models.tokens import encode
from attnviz.pages.heads.maths import head_survey, sentence_sets

PLACES = ((0, 0), (0, 1), (1, 0))


def scores(each: np.ndarray) -> HeadScores:
    return HeadScores(PLACES, ("a", "a", "b"), {"x": each}, len(each))


@pytest.mark.parametrize("n", [9, 10, 37])
def test_the_examples_of_a_head_are_one_sentence_of_every_tenth_and_none_without_a_score(n: int) -> None:
    draw = np.random.default_rng(0)
    each = draw.random((n, 3))
    each[:, 1] = np.nan
    each[2:, 2] = np.nan
    found = head_survey.MeasureSummary.from_scores(scores(each), "x")
    order = sorted(range(n), key=lambda at: -each[at, 0])
    examples = [at for at in found.best[0].tolist() if at >= 0]
    assert len(examples) == min(n, 10)
    assert examples[0] == order[0]
    assert n <= 10 or [10 * order.index(example) // n for example in examples] == list(range(10))
    np.testing.assert_array_equal(found.best_scores[0][: len(examples)], each[examples, 0])
    assert (found.best[1] == -1).all()
    assert np.isnan(found.mean[1])
    assert sorted(found.best[2][:2].tolist()) == [0, 1]
    assert (found.best[2][2:] == -1).all()
    assert found.counts.tolist() == [n, 0, 2]


def test_a_survey_that_is_stopped_is_exactly_that_of_the_sentences_that_are_done() -> None:
    loaded, lines = load("minilm-l6"), [f"the {word} and the dog and the {word}" for word in ("cat", "bird", "fish")]
    coming = head_survey.scan_patterns(loaded, head_survey.Config("own", "\n".join(lines), 63))
    for done in (1, 2):
        step = next(coming)
        assert step.share == done / 3
        stopped = step.summarise()
        *_, whole = head_survey.scan_patterns(loaded, head_survey.Config("own", "\n".join(lines[:done]), 63))
        alone = whole.summarise()
        assert stopped is not None
        assert alone is not None
        assert stopped.sentences == alone.sentences == tuple(lines[:done])
        for name, measure in stopped.measures.items():
            for each in fields(measure):
                np.testing.assert_array_equal(getattr(measure, each.name), getattr(alone.measures[name], each.name))


MODELS = ("smollm2-135m", "minilm-l6")


@pytest.fixture(scope="module", params=MODELS)
def loaded(request: pytest.FixtureRequest) -> LoadedModel:
    return load(request.param)


def test_passages_are_cut_at_a_token_and_fill_the_length(loaded: LoadedModel) -> None:
    for passage, cut in zip(batches.passages(), sentence_sets.make_sentences(loaded, "books", count=6), strict=False):
        assert passage.startswith(cut)
        whole, part = encode(loaded, passage), encode(loaded, cut)
        assert len(part) == 64
        inside = [span.id for span in part.spans if not span.special]
        assert inside == [span.id for span in whole.spans if not span.special][: len(inside)]


def test_a_text_of_ones_own_is_cut_into_lines_and_long_lines_into_parts(loaded: LoadedModel) -> None:
    long = "one two three four five six seven eight nine ten " * 4
    texts = sentence_sets.make_sentences(loaded, "own", f"first line\n\n{long}\nword\n", count=20, length=16)
    assert texts[0] == "first line"
    assert " ".join(texts[1:]) == long.strip(), "and a single word has nothing to look at"
    assert all(len(encode(loaded, text)) <= 16 for text in texts)
