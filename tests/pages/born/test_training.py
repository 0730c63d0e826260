"""The training runs that are shipped: what they begin with, what they reach, and numbers worked out by another hand."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from attnviz.analysis import prepared_files
from attnviz.pages.born.maths import life
from attnviz.pages.born.maths.life import Config, forward

pytestmark = pytest.mark.numbers

BEGINNING = 40  #: steps that are trained again
CLOSE = 1e-4  #: another processor's arithmetic moves a loss by 1e-7, a learning rate of 1.05 times by 4e-4


def test_the_first_steps_come_out_again() -> None:
    kept = life.read(life.LIFE)
    again = life.run(replace(kept.config, steps=BEGINNING), n_checkpoints=0)
    assert again.losses == pytest.approx(kept.losses[:BEGINNING], rel=CLOSE)


@pytest.mark.parametrize("name", [life.LIFE, *life.SEEDS])
def test_every_seed_learns_it_on_lengths_never_trained_on(name: str) -> None:
    run = life.read(name)
    assert not set(run.config.held_out) & set(run.config.training_lags)
    assert run.accuracy[-1] > 0.95
    assert run.induction[-1].max() >= (0.9 if name == life.LIFE else 0.85)
    assert run.previous[-1].max() >= 0.8
    assert run.strongest_head(run.previous)[0] == 0, "the head that looks back by one is in the first layer"
    assert run.strongest_head(run.induction)[0] == 1


@pytest.mark.parametrize("name", ["blurred", "one-layer"])
def test_without_a_first_layer_nobody_learns_it(name: str) -> None:
    run = life.read(name)
    assert run.cliff is None
    assert run.accuracy.max() < 0.25
    assert run.induction.max() < 0.2


def test_what_is_shipped_was_made_as_its_name_says() -> None:
    for name, config in life.RUNS.items():
        run = life.read(name)
        assert run.config == config
        assert len(run.losses) == config.steps
        assert set(life.plotted_steps(config.steps)) <= set(run.at.tolist())
    assert len(life.read(life.LIFE).numbers) == 60
    assert len(life.read(life.BLURRED).numbers) == life.N_FEW_CHECKPOINTS
    assert life.read(life.LIFE).numbers.shape[1] < 33_000
    assert life.read(life.LIFE).strongest_head(np.array([[[1, 0, 0]], [[0, 1, 0]]])) == (0, 1), "at the last step"


def by_hand(numbers: np.ndarray, ids: np.ndarray, config: Config, silenced: set[tuple[int, int]]) -> np.ndarray:
    """Logits (T, V), position by position and pair by pair, in float64."""
    flat, parts = numbers.astype(np.float64), []
    for rows, cols in config.shapes:
        parts.append(flat[: rows * cols].reshape(rows, cols))
        flat = flat[rows * cols :]
    embedding, *inside, unembedding = parts
    x, half = embedding[ids], config.d_head // 2
    for layer in range(config.layers):
        added = np.zeros_like(x)
        for head in range(config.heads):
            some = slice(head * config.d_head, (head + 1) * config.d_head)
            q, k, v = (x @ matrix[:, some] for matrix in inside[4 * layer : 4 * layer + 3])
            for t, both in enumerate(zip(q, k, strict=True)):
                for one in both:
                    for i in range(half):
                        angle = t * config.base ** (-2 * i / config.d_head)
                        turned = complex(one[i], one[i + half]) * np.exp(1j * angle)
                        one[i], one[i + half] = turned.real, turned.imag
            for t in range(len(ids)):
                scores = k[: t + 1] @ q[t] / config.d_head**0.5
                weights = np.exp(scores - scores.max())
                if (layer, head) not in silenced:
                    added[t] += weights / weights.sum() @ v[: t + 1] @ inside[4 * layer + 3][some]
        x = x + added
    return x @ unembedding


def test_the_pass_is_what_another_hand_computes() -> None:
    run, ids = life.read(life.LIFE), np.array([5, 9, 40, 2, 5, 9, 40, 2])
    for place, silenced in ((20, set()), (-1, {(0, 0), (1, 2)})):
        numbers = torch.from_numpy(run.numbers[place]).double()
        logits, _weights = forward(numbers, torch.from_numpy(ids)[None], run.config, silenced)
        assert logits[0].numpy() == pytest.approx(by_hand(run.numbers[place], ids, run.config, silenced), abs=1e-8)


def test_scores_are_what_their_definition_says() -> None:
    """Weight on the place before, over all rows; weight after the same word's first, over the second copy."""
    run, given = life.read(life.LIFE), life.exam_sequences(Config())
    numbers = torch.from_numpy(run.numbers[-1]).float()
    _logits, weights = forward(numbers, given.tokens, run.config)
    sums, counts = np.zeros((2, 2, 3)), np.zeros(2)
    for b, words in enumerate(given.tokens.tolist()):
        here = np.stack([layer[b].numpy() for layer in weights])  # (L, H, T, T)
        for t, word in enumerate(words):
            if t:
                sums[0] += here[:, :, t, t - 1]
                counts[0] += 1
            if word in words[:t]:
                sums[1] += here[:, :, t, words.index(word) + 1]
                counts[1] += 1
    previous, induction = sums / counts[:, None, None]
    assert run.previous[-1] == pytest.approx(previous, abs=0.01), "numbers are kept with 16 bits"
    assert run.induction[-1] == pytest.approx(induction, abs=0.01)


def test_a_run_trained_on_this_machine_is_kept_and_read_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ATTNVIZ_CACHE", str(tmp_path))
    shipped = life.read(life.LIFE)
    prepared_files.write_cache_file(life.own_run_path("mine"), life.pack_run(shipped))
    assert life.list_own_runs() == ["mine"]
    again = life.read("mine")
    assert again.config == shipped.config
    for name in ("numbers", "loss", "accuracy", "previous", "induction"):
        np.testing.assert_array_equal(getattr(again, name), getattr(shipped, name))


@pytest.mark.slow
def test_a_heads_silence_is_measured_at_every_step() -> None:
    run = life.read(life.LIFE)
    nobody = life.measure_without_heads(life.LIFE, ())
    assert nobody[:, 1] == pytest.approx(run.accuracy[run.kept], abs=0.02)
    assert nobody[:, 0] == pytest.approx(run.loss[run.kept], abs=0.02)
    assert life.measure_without_heads(life.LIFE, ((0, 0),))[-1, 1] < 0.1 < 0.9 < nobody[-1, 1]
