"""Heads nearest to given rows: the divergence against SciPy's, the order, and what chance alone finds."""

import numpy as np
import pytest
from scipy.spatial.distance import jensenshannon

import attnviz as av
from attnviz.analysis.heads.nearest_heads import N_RANDOM, compare_rows, jensen_shannon
from attnviz.analysis.model_run import Request, run_model
from attnviz.app import teaching
from attnviz.base.message import Problem
from attnviz.models.tokens.matrix_axes import matrix_axis
from attnviz.rooms.room_file import Counts
from tests.models.tiny import llama, tokens


def rows(random, heads=40, words=9):
    table = random.dirichlet(np.full(words, 0.3), heads)
    return np.where(table < 1e-3, 0, table)


def test_the_divergence_is_scipys_in_nats():
    random = np.random.default_rng(1)
    p, q = rows(random), rows(random)
    p, q = p / p.sum(-1, keepdims=True), q / q.sum(-1, keepdims=True)
    assert jensen_shannon(p, q) == pytest.approx(jensenshannon(p, q, axis=-1) ** 2, abs=1e-12)


def test_a_heads_own_rows_find_it_and_no_random_rows_come_as_near_on_three_sentences():
    random = np.random.default_rng(2)
    sentences = [rows(random) for _ in range(3)]
    places = [(i // 8, i % 8) for i in range(40)]
    found = compare_rows(places, [(table, table[17]) for table in sentences])
    assert (found.heads[0].layer, found.heads[0].head) == places[17]
    assert found.heads[0].divergence == pytest.approx(0, abs=1e-12)
    assert [near.divergence for near in found.heads] == sorted(near.divergence for near in found.heads)
    assert found.as_near_by_chance <= N_RANDOM / 100


def test_random_rows_are_on_other_words():
    table = np.eye(5)[:1].repeat(3, 0)  # three heads that all look at the first word alone
    found = compare_rows([(0, i) for i in range(3)], [(table, np.array([1.0, 0, 0, 0, 0]))])
    assert found.heads[0].divergence == 0
    table = np.eye(5)
    assert compare_rows([(0, i) for i in range(5)], [(table, np.eye(5)[0])]).as_near_by_chance == N_RANDOM


def test_the_library_finds_a_head_by_its_rows_in_two_traces():
    model = llama()
    traces = [av.capture(model, tokens()), av.capture(model, tokens()[:, :5])]
    asked = [{4: trace[1].weights(2)[0, 0, 4].numpy() * 7} for trace in traces]
    found = av.nearest_heads(traces, asked)
    assert (found.heads[0].layer, found.heads[0].head) == (1, 2)
    assert len(found.heads) == 5
    assert av.nearest_heads(traces[0], asked[0]).heads[0].divergence == pytest.approx(0, abs=1e-6)


@pytest.mark.parametrize("asked", [{}, {99: [1.0]}, {4: [1.0, 2.0]}, {4: np.zeros(7)}, {4: -np.ones(7)}, [{}, {}]])
def test_rows_that_fit_no_layer_are_refused_in_words(asked):
    with pytest.raises(Problem):
        av.nearest_heads(av.capture(llama(), tokens()), asked)


@pytest.mark.slow
def test_a_class_that_reads_well_finds_one_head_on_the_three_prepared_sentences_and_an_undecided_one_none(smollm2):
    """75% of taps on what "it" stands for, 15% on the other noun, the rest anywhere before it."""
    nouns = (("animal", "street"), ("trophy", "suitcase"), ("bread", "woman"))
    pairs = []
    for text, (meant, other) in zip(teaching.SENTENCES, nouns, strict=True):
        stack = run_model(Request(teaching.MODEL, text), smollm2).stacks[0]
        axis = matrix_axis(stack.queries, by_word=True)
        words = [label.strip() for label in axis.labels]
        votes = np.zeros(len(words))
        it = words.index("it")
        votes[1:it] = 0.1 / (it - 3)
        votes[[words.index(meant), words.index(other)]] = 0.75, 0.15
        pairs.append((teaching.rows_of_heads(stack, it), votes))
    found = compare_rows(stack.places, pairs)
    assert (found.heads[0].layer, found.heads[0].head) == teaching.HEAD
    assert found.heads[0].divergence == pytest.approx(0.1, abs=0.02)
    assert found.as_near_by_chance <= 0.015 * N_RANDOM
    assert compare_rows(stack.places, pairs[:1]).as_near_by_chance > 0.3 * N_RANDOM, "one sentence is no evidence"


@pytest.mark.parametrize(
    "votes, taps, decided",
    [(20, [2, 15, 3, 0, 9], True), (20, [9, 10, 1, 0, 19], False), (20, [7, 8, 8, 0, 2], False)],
)
def test_a_class_is_decided_where_more_than_half_tapped_one_word_before_the_query(votes, taps, decided):
    assert teaching.is_decided(Counts(votes, tuple(taps), tuple(map(float, taps))), 3) is decided
