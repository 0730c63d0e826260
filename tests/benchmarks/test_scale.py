"""The queue's formula agrees with a simulation of the queue, with a formula by another hand, and with the page."""

from __future__ import annotations

import math
import random
import re

import numpy as np
import pytest

from benchmarks import queueing, scale


def by_the_textbook(servers, load):
    """Erlang's C as the sum that textbooks give."""
    last = load**servers / math.factorial(servers) * servers / (servers - load)
    return last / (sum(load**n / math.factorial(n) for n in range(servers)) + last)


@pytest.mark.parametrize("servers, load", [(1, 0.5), (2, 1.6), (5, 3.0), (20, 18.5)])
def test_who_waits_is_as_the_textbook_says(servers, load):
    assert queueing.share_that_waits(servers, load) == pytest.approx(by_the_textbook(servers, load), rel=1e-12)


@pytest.mark.parametrize("servers, a_second, service", [(1, 2.0, 0.35), (2, 6.0, 0.25), (8, 28.0, 0.25)])
def test_waits_are_those_of_a_simulated_queue(servers, a_second, service):
    waits = np.array(
        queueing.simulated_waits(servers, a_second, lambda chance: chance.expovariate(1 / service), 400_000)
    )[1000:]
    assert (waits > 0).mean() == pytest.approx(queueing.share_that_waits(servers, a_second * service), abs=0.02)
    assert np.quantile(waits, 0.95) == pytest.approx(queueing.wait_quantile(servers, a_second, service), rel=0.08)


def test_passes_of_one_length_wait_less_than_the_formula_says():
    waits = queueing.simulated_waits(2, 6.0, lambda _chance: 0.25, 100_000)
    assert np.quantile(waits, 0.95) < queueing.wait_quantile(2, 6.0, 0.25)


def test_one_server_less_than_needed_is_too_slow():
    chance = random.Random(1)
    for _ in range(50):
        a_second, service = chance.uniform(0.1, 400), chance.uniform(0.01, 0.6)
        needed = queueing.servers_needed(a_second, service, 1.0)
        assert queueing.wait_quantile(needed, a_second, service) + service <= 1.0
        if needed > 1:
            assert queueing.wait_quantile(needed - 1, a_second, service) + service > 1.0


def test_what_takes_longer_than_the_limit_alone_is_refused():
    with pytest.raises(ValueError, match="alone is longer"):
        queueing.servers_needed(1.0, 1.5, 1.0)


def test_the_page_is_what_the_model_says_for_the_times_that_it_names():
    text = scale.PAGE.read_text("utf-8")
    means = [float(found) for found in re.findall(r"\b(\d\.\d\d) s \(slowest", text)]
    visitors = [row.split("|")[1].strip() for row in text.splitlines() if re.match(r"\| [\d,]+ \|", row)]
    assert visitors == [f"{each:,}" for each in scale.VISITORS] * 2
    shown = [row for row in text.splitlines() if re.match(r"\| [\d,]+ \|", row)]
    for number, own in enumerate((scale.OWN, 1.0)):
        # the page rounds the time it measured; its tables lie between those of the ends of what rounds to it
        low, high = (scale.table(means[0] + off, own)[2:] for off in (-0.005, 0.005))
        for row, least, most in zip(shown[5 * number : 5 * number + 5], low, high, strict=True):
            replicas = [int(each.split("|")[4]) for each in (least, row, most)]
            assert replicas == sorted(replicas)
