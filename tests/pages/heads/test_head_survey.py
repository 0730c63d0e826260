"""A survey sums up what scan and costs find, on sentences that are cut where a token ends."""

from dataclasses import fields, replace

import numpy as np
import pytest

from attnviz.analysis.heads import batches
from attnviz.analysis.heads.removal_costs import HeadWork
from attnviz.analysis.heads.scan import HeadScores
from attnviz.models.catalogue import LoadedModel
from attnviz.models.loading import load
from attnviz.models.tokens import encode
from attnviz.pages.heads.maths import head_survey, sentence_sets

PLACES = ((0, 0), (0, 1), (1, 0))


def scores(each: np.ndarray) -> HeadScores:
    return HeadScores(PLACES, ("a", "a", "b"), {"x": each}, len(each))


@pytest.mark.parametrize("n", [9, 10, 11, 37, 64])
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


def test_patterns_are_scanned_sentence_by_sentence() -> None:
    loaded = load("minilm-l6")
    config = head_survey.Config("own", "the cat and the dog and the cat\na bird saw it and a bird saw it", 5, 20)
    steps = list(head_survey.scan_patterns(loaded, config))
    assert [step.share for step in steps] == [0.5, 1.0]
    survey = steps[-1].summarise()
    assert survey is not None
    assert set(survey.measures) == set(head_survey.PATTERNS)
    assert survey.sentences == tuple(config.own_text.splitlines())


def test_a_survey_that_is_stopped_is_exactly_that_of_the_sentences_that_are_done() -> None:
    loaded, lines = load("minilm-l6"), [f"the {word} and the dog and the {word}" for word in ("cat", "bird", "fish")]
    coming = head_survey.scan_patterns(loaded, head_survey.Config("own", "\n".join(lines), 63))
    for done in (1, 2):
        stopped = next(coming).summarise()
        *_, whole = head_survey.scan_patterns(loaded, head_survey.Config("own", "\n".join(lines[:done]), 63))
        alone = whole.summarise()
        assert stopped is not None
        assert alone is not None
        assert stopped.sentences == alone.sentences == tuple(lines[:done])
        for name, measure in stopped.measures.items():
            for each in fields(measure):
                np.testing.assert_array_equal(getattr(measure, each.name), getattr(alone.measures[name], each.name))


class Counted(HeadWork):
    """Remembers the sentences that means and costs were asked for, and answers as if each sentence cost its number."""

    def __init__(self) -> None:
        self.means: list[str] = []
        self.costs: list[str] = []

    def mean_steps(self, loaded, sentences):
        self.means = list(sentences)
        yield {"layer": np.zeros(1)}

    def cost_steps(self, loaded, sentences, means=None):
        self.costs = list(sentences)
        for done in range(1, len(sentences) + 1):
            yield None
            yield HeadScores(((0, 0),), ("layer",), {"silenced": np.arange(done)[:, None] * 1.0}, done)


def test_costs_are_measured_on_as_many_sentences_as_were_asked_for_and_means_are_over_all() -> None:
    work, sentences = Counted(), [f"word {n} and word" for n in range(6)]
    config = head_survey.Config("own", "\n".join(sentences), 6)
    encoder = load("minilm-l6")
    decoder = replace(encoder, entry=replace(encoder.entry, kind="decoder"))
    steps = list(head_survey.scan_costs(decoder, config, 2, by=work))
    assert work.costs == work.means[:2]
    assert len(work.means) == 6
    assert all(step.scores is None or step.scores.sentences <= len(step.sentences) == 2 for step in steps)
    assert steps[-1].share == 1
    survey = steps[-1].summarise()
    assert survey is not None
    assert survey.measures["silenced"].counts.tolist() == [2]


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
