"""The two models of ours, hidden patches, silenced heads and smallest sets, against transformers' own passes."""

import numpy as np
import pytest
import torch
from torch.testing import assert_close

from attnviz.models.loading import load
from attnviz.models.pictures import held_out_digits, join_digits
from attnviz.pages.pictures.maths.patch_measures import (
    head_maps,
    mean_weights,
    most_watched_patch,
    picture_rollout,
    weights_with_change,
)
from attnviz.pages.pictures.maths.picture_record import HeadChange, PictureAnswer
from attnviz.pages.pictures.maths.picture_run import compare_answers, find_smallest_set, rerun, run_picture
from tests.models.tiny import eager


@pytest.fixture(scope="module")
def vit():
    return load("digit-vit")


@pytest.fixture(scope="module")
def reader():
    return load("digit-reader")


def pixels_of(pictures):
    return torch.from_numpy(pictures.astype(np.float32))[:, None] / 8 - 1


def digits(*wanted):
    held = held_out_digits()
    return join_digits([held.pictures[held.like(digit)] for digit in wanted])


@torch.no_grad()
def test_the_reader_writes_at_least_95_of_100_pairs_and_triples_without_a_fault(reader):
    held, draw = held_out_digits(), np.random.default_rng(7)
    for count in (2, 3):
        chosen = draw.integers(0, len(held.labels), (400, count))
        rows = np.stack([join_digits(list(held.pictures[each])) for each in chosen])
        given = torch.full((400, 1), reader.model.config.decoder_start_token_id)
        for _ in range(count + 1):
            logits = reader.model(pixel_values=pixels_of(rows), decoder_input_ids=given).logits[:, -1]
            given = torch.cat([given, logits.argmax(-1, keepdim=True)], 1)
        wanted = np.concatenate([held.labels[chosen] + 3, np.full((400, 1), reader.model.config.eos_token_id)], 1)
        assert (given[:, 1:].numpy() == wanted).all(1).mean() >= 0.95


def test_cross_attention_of_words_is_that_of_the_eager_path(reader):
    run = run_picture(reader, digits(3, 7, 4))
    assert run.answer.tokens == ("three", "seven", "four", "<end>")
    found = eager(reader.model, **run.inputs)
    across = run.stack("words")
    assert len(across.layers) == len(found.cross_attentions) == 2
    for layer, weights in zip(across.layers, found.cross_attentions, strict=True):
        assert_close(layer.weights(), weights, atol=1e-5, rtol=0)


def test_the_patch_that_is_watched_most_is_eager_s_and_answers_are_alike_as_they_are_written(vit):
    run = run_picture(vit, digits(4))
    found = eager(vit.model, **run.inputs).attentions[0][0, :, 0, 1:]
    assert [most_watched_patch(run.stacks[0], 0, head) for head in range(4)] == found.argmax(-1).tolist()
    before = PictureAnswer(("four",), (0.9579,))
    afters = (("four", 0.9612), ("four", 0.9), ("four", 0.9581), ("nine", 0.9579))
    compared = [compare_answers(before, PictureAnswer((text,), (share,))) for text, share in afters]
    assert compared == ["surer", "less", "alike", "other"]


def test_a_smallest_set_loses_the_answer_with_any_patch_that_is_taken_away(vit):
    run = run_picture(vit, digits(8))
    *_parts, found = find_smallest_set(vit, run)
    assert 0 < len(found.patches) < 64
    assert rerun(vit, run, HeadChange(hidden=found.hidden))[0].text == run.answer.text
    for patch in found.patches:
        fewer = tuple(sorted({*found.hidden, patch}))
        assert rerun(vit, run, HeadChange(hidden=fewer))[0].text != run.answer.text
    assert found.answer == run.answer.text


def test_a_silenced_head_hands_on_nothing_and_a_scale_is_that_head_s_own(vit):
    run = run_picture(vit, digits(5))
    _answer, trace = rerun(vit, run, HeadChange(silenced=(("picture", 2, 1),)))
    assert trace.layers[2].silenced == frozenset({1})
    _answer, scaled = rerun(vit, run, HeadChange(factor=3.0, head=("picture", 0, 2)))
    layer = run.trace.layers[0]
    expected = (layer.q[0, 2] @ layer.k[0, 2].mT * layer.scale * 3).softmax(-1)
    assert_close(scaled.layers[0].weights(2)[0, 0], expected, atol=1e-5, rtol=0)
    assert_close(scaled.layers[0].weights(1), layer.weights(1))


@pytest.mark.parametrize("hidden, factor", [((), 1.0), ((0, 9, 27, 63), 2.5)])
def test_weights_means_and_rollout_follow_hidden_patches_and_a_scale_through_the_layers(vit, hidden, factor):
    """Beside a softmax by hand over the recorded queries and keys, without the hidden keys."""
    run, (layer, head) = run_picture(vit, digits(2)), (2, 1)
    change = HeadChange(hidden, factor=factor, head=("picture", layer, head))
    expected = []
    for at, each in enumerate(run.trace.layers):
        scores = (each.q[0] @ each.k[0].mT).double() * each.scale
        scores[head] *= factor if at == layer else 1.0
        scores[..., [1 + patch for patch in hidden]] = -torch.inf
        expected.append(scores.softmax(-1))
    for at, weights in enumerate(expected):
        assert_close(weights_with_change(run.stacks[0], at, change), weights.float(), atol=1e-5, rtol=0)
    mean = torch.cat(expected).mean(0).numpy()
    np.testing.assert_allclose(mean_weights(run.stacks[0], change), mean, atol=1e-5)
    so_far = np.eye(65)
    for number, weights in enumerate(expected):
        so_far = (0.5 * weights.mean(0).numpy() + 0.5 * np.eye(65)) @ so_far
        np.testing.assert_allclose(picture_rollout(run.stacks[0], change)[number], so_far, atol=1e-5)
    maps = head_maps(run.stacks[0], change)
    np.testing.assert_allclose(maps.default_row[9], expected[layer][head, 0], atol=1e-5)
    np.testing.assert_allclose(maps.mean[9], expected[layer][head, 1:].mean(0), atol=1e-5)
