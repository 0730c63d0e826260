"""A real Ray on this machine, with two processors: the same answers as in this process, and a sentence for all else."""

import importlib.util
import os
import signal
import threading
import time

import numpy as np
import psutil
import pytest
from torch.testing import assert_close

from attnviz.analysis.model_run import Request
from attnviz.base.message import Problem
from attnviz.engine import InProcess, Rerun
from attnviz.models.loading import load, version
from attnviz.models.settings import EngineAddress
from deploy.class_server import free_port
from tests.models.tiny_tokenizers import gpt2_folder
from tests.waiting import until

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),  # of Ray's own
    pytest.mark.skipif(
        importlib.util.find_spec("ray") is None, reason="Ray is not installed: pip install -r requirements-cluster.txt"
    ),
]
TEXT = "don't you think the cat's hat is nice?"
SENTENCES = [f"the {animal} sat on the {animal}'s mat" for animal in ("cat", "dog", "hen", "owl", "fox", "bee")]
PATTERNS = ("previous_token", "duplicate_token")
ADDRESS = EngineAddress("local", replicas=(1, 1), queue=2, timeout=90, cpus=2)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A tiny model that a visitor could have."""
    return gpt2_folder(tmp_path_factory.mktemp("model"))


@pytest.fixture(scope="module")
def on_ray():
    """An engine on a Ray that is stopped at the end, whatever happens."""
    import ray
    from ray import serve

    from attnviz.engine.on_ray import RayEngine

    engine = RayEngine(ADDRESS)
    try:
        engine._connection().result(240)
        yield engine
    finally:
        if ray.is_initialized():
            serve.shutdown()
        ray.shutdown()


@pytest.fixture(scope="module")
def here():
    return InProcess(lambda request: load(request.model))


def asked(folder, text=TEXT):
    return Request(folder, text, version=version(folder))


def quick(engine, **limits):
    """The same connection under other limits."""
    from attnviz.engine.on_ray import RayEngine

    other = RayEngine(EngineAddress(**{**vars(engine.address), **limits}))
    other._connected = engine._connected
    return other


def replicas():
    """Process ids of the replicas that run."""
    below = psutil.Process().children(recursive=True)
    return [each.pid for each in below if each.is_running() and "ServeReplica:attnviz" in "".join(each.cmdline()[:1])]


def same_traces(one, other):
    assert len(one.layers) == len(other.layers)
    assert_close(one.logits, other.logits, atol=0, rtol=0)
    for mine, theirs in zip(one.layers, other.layers, strict=True):
        for name in ("q", "k", "v"):
            assert_close(getattr(mine, name), getattr(theirs, name), atol=0, rtol=0)
        assert_close(mine.weights(), theirs.weights(), atol=0, rtol=0)


def test_a_pass_on_ray_is_bitwise_the_pass_in_this_process(on_ray, here, folder):
    far, near = on_ray.run(asked(folder)), here.run(asked(folder))
    same_traces(far.trace, near.trace)
    assert far.request == near.request
    assert far.name == near.name
    assert far.source.labels == near.source.labels
    assert far.stacks[0].same_tokens


def test_a_refusal_of_the_model_comes_back_as_the_same_sentence_with_its_values(on_ray, here, folder):
    said = []
    for engine in (on_ray, here):
        with pytest.raises(Problem) as refused:
            engine.run(asked(folder, " "))
        said.append(refused.value.message)
    assert said[0] == said[1]
    with pytest.raises(Problem, match="not the same where Ray runs it"):
        on_ray.run(Request(folder, TEXT, version="of yesterday"))


def test_heads_scored_and_taken_away_over_shards_have_bitwise_the_numbers_of_one_process(on_ray, here, folder):
    loaded = load(folder)
    *_, far = on_ray.scan(loaded, SENTENCES, PATTERNS)
    *_, near = here.scan(loaded, SENTENCES, PATTERNS)
    same_scores(far, near)
    *_, means = on_ray.mean_steps(loaded, SENTENCES)
    *_, near_means = here.mean_steps(loaded, SENTENCES)
    for name, mean in near_means.items():
        assert_close(means[name], mean, atol=0, rtol=0)
    *_, far = on_ray.cost_steps(loaded, SENTENCES, means)
    *_, near = here.cost_steps(loaded, SENTENCES, means)
    same_scores(far, near)


def same_scores(one, other):
    assert one.places == other.places
    assert one.sentences == other.sentences == len(SENTENCES)
    assert one.by_sentence.keys() == other.by_sentence.keys()
    for name, scores in one.by_sentence.items():
        np.testing.assert_array_equal(scores, other.by_sentence[name])


def test_a_full_queue_is_said_at_once(on_ray, folder):
    """Two run and two wait behind them, while the replica is stopped; more are refused, and the others answered."""
    on_ray.run(asked(folder))
    (pid,) = replicas()
    answers, ends = [], []

    def ask(number):
        begun = time.monotonic()
        try:
            answers.append(on_ray.run(asked(folder, f"{TEXT} {number}")).request.text)
        except Problem as problem:
            answers.append(problem.message.template)
            ends.append(time.monotonic() - begun)

    threads = [threading.Thread(target=ask, args=(number,), daemon=True) for number in range(8)]
    os.kill(pid, signal.SIGSTOP)
    try:
        for thread in threads:
            thread.start()
        until(lambda: len(ends) >= 1, 60)
    finally:
        os.kill(pid, signal.SIGCONT)
    for thread in threads:
        thread.join(120)
    assert len(answers) == 8
    full = [each for each in answers if each.startswith("{n} passes are waiting")]
    assert full
    assert all(each.startswith(TEXT) for each in set(answers) - set(full))
    assert min(ends) < 30


def test_an_answer_that_does_not_come_is_a_sentence_at_the_limit(on_ray, folder):
    on_ray.run(asked(folder))
    (pid,) = replicas()
    os.kill(pid, signal.SIGSTOP)
    try:
        begun = time.monotonic()
        with pytest.raises(Problem, match="No answer came within 2 seconds"):
            quick(on_ray, timeout=2).run(asked(folder))
        assert time.monotonic() - begun < 20
    finally:
        os.kill(pid, signal.SIGCONT)
    assert on_ray.run(asked(folder)).source.labels, "it goes on afterwards"


def once_begun(run, _loaded, begun):
    """In a replica: the first one that is asked for this is never done with it, and leaves its process id."""
    if not begun.exists():
        begun.write_text(str(os.getpid()))
        signal.sigwait([])
    return run


def test_a_replica_killed_in_mid_flight_is_answered_by_another(on_ray, here, folder, tmp_path):
    begun, answers = tmp_path / "begun", []
    run = on_ray.run(asked(folder, "killed in flight"))

    def ask():
        try:
            answers.append(on_ray.rerun(run, Rerun(once_begun, (begun,))))
        except Problem as problem:
            answers.append(problem)

    thread = threading.Thread(target=ask, daemon=True)
    thread.start()
    until(lambda: begun.exists() and begun.read_text())
    pid = int(begun.read_text())
    os.kill(pid, signal.SIGKILL)
    thread.join(ADDRESS.timeout + 20)
    assert not thread.is_alive(), "never a hang"
    assert not isinstance(answers[0], Problem), answers[0]
    same_traces(answers[0].trace, here.run(asked(folder, "killed in flight")).trace)
    assert replicas() not in ([pid], []), "another process answered"


def test_a_cluster_that_nobody_runs_is_said_within_seconds(on_ray):
    import attnviz.engine.on_ray as ray_engine

    address = EngineAddress(f"127.0.0.1:{free_port()}", timeout=20)
    begun = time.monotonic()
    with pytest.raises(OSError, match=r"refused|timed out"):
        ray_engine._initialise(address)
    assert time.monotonic() - begun < 10
