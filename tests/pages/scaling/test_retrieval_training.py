"""The retrieval head: it learns, every run repeats, and the verdict says so where scaling makes no difference."""

import numpy as np
import psutil
import pytest
import torch

from attnviz.analysis import own_process
from attnviz.pages.scaling.maths import retrieval_training as experiment
from attnviz.pages.scaling.maths.retrieval_training import Config

QUICK = Config(d_k=16, names=6, steps=25, seeds=2)


def trained(config):
    *_partial, result = experiment.train(config)
    return result


def test_scaled_learns_what_raw_cannot_at_a_large_d_k():
    result = trained(Config(d_k=256, steps=120, seeds=2))
    assert result.runs["sqrt"].end("accuracy").mean() > 0.75
    assert result.runs["raw"].end("accuracy").mean() < 0.4
    assert "scaling helps" in str(result.verdict())


def test_partial_results_grow_to_the_complete_one_the_same_on_every_run():
    first, second = list(experiment.train(QUICK)), list(experiment.train(QUICK))
    assert [part.done for part in first] == [10, 20, 25]
    assert [part.complete for part in first] == [False, False, True]
    for one, other in zip(first, second, strict=True):
        for name in one.runs:
            assert np.array_equal(one.runs[name].loss, other.runs[name].loss)
    assert np.array_equal(first[0].runs["raw"].loss, first[-1].runs["raw"].loss[:, :10])
    assert first[-1].runs["raw"].loss.shape == (2, 25)


def test_the_first_gradient_is_the_one_of_a_head_written_out_without_tricks():
    config = Config(d_k=12, names=4, steps=1, seeds=1, seed=3)
    run = trained(config).runs["sqrt"]
    g = torch.Generator().manual_seed(3)
    q, k = torch.randn(4, 12, generator=g).requires_grad_(), torch.randn(4, 12, generator=g).requires_grad_()
    values, out = torch.randn(8, 16, generator=g), torch.randn(16, 8, generator=g) / 4
    labels = torch.randint(0, 8, (32, 4), generator=torch.Generator().manual_seed(10_003))
    losses = []
    for sequence in labels:
        mixed = (q @ k.T / 12**0.5).softmax(-1) @ values[sequence]
        losses.append(torch.nn.functional.cross_entropy(mixed @ out, sequence))
    loss = torch.stack(losses).mean()
    loss.backward()
    assert run.loss[0, 0] == pytest.approx(loss.item(), rel=1e-5)
    with torch.no_grad():
        p = (q @ k.T / 12**0.5).softmax(-1)
    norms = [torch.func.jacrev(lambda z: z.softmax(-1))(row.log()).norm() for row in p]
    at_logits, jacobian = experiment.RetrievalHead(config, "sqrt").softmax_gradients(
        next(experiment.draw_labels(config))
    )
    assert jacobian.item() == pytest.approx(torch.stack(norms).mean().item(), rel=1e-4)
    # the chain rule: at the queries is the gradient at the logits, times the keys, over sqrt(d_k)
    assert q.grad is not None
    z_grad = torch.linalg.lstsq(k.detach().T.double() / 12**0.5, q.grad.T.double()).solution.T
    assert at_logits.item() == pytest.approx(z_grad.norm().item(), rel=1e-3)
    assert run.gradient[0, 0] == pytest.approx((q.grad.norm() ** 2 + k.grad.norm() ** 2).sqrt().item(), rel=1e-4)


@pytest.mark.slow
def test_in_another_process_the_largest_heads_learn_the_same_and_this_one_holds_nothing_of_it():
    config = Config(d_k=4096, alternative="qk-norm", parameter=5.0, steps=10, seeds=8, optimizer="adam")
    before = psutil.Process().memory_info().rss
    *_partial, there = own_process.results(experiment, "train", config, 1)
    assert psutil.Process().memory_info().rss - before < 30 * 2**20
    here = trained(config)
    for name, run in here.runs.items():
        for measure, values in vars(run).items():
            np.testing.assert_allclose(getattr(there.runs[name], measure), values, rtol=1e-3, atol=1e-6)
