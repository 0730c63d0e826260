"""A file of `av.watch`, as the page reads it: the same numbers, while it grows and when it is broken."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

import attnviz as av
from attnviz.base.message import Problem
from attnviz.pages.born.maths import watched_run
from attnviz.pages.born.panels import watched as watched_panel
from tests.models.tiny import llama, tokens
from tests.pages.conftest import said, sound


@pytest.fixture(scope="module")
def watched(tmp_path_factory) -> tuple[Path, av.TrainingWatch]:
    """A file, and the records that it was written from."""
    path, model = tmp_path_factory.mktemp("watch") / "heads.jsonl", llama()
    optimizer = torch.optim.SGD(model.parameters(), 0.01)
    with av.watch(model, tokens()[:1], every=2, path=path) as watch:
        for _ in range(5):
            model(input_ids=tokens(), labels=tokens()).loss.backward()
            optimizer.step()
    return path, watch


def test_the_numbers_are_those_that_were_recorded(watched):
    path, watch = watched
    run = watched_run.read(path)
    frame = watch.to_dataframe()
    assert run.steps.tolist() == [0, 2, 4, 5]
    assert run.names == [f"{layer}.{head}" for layer in range(2) for head in range(6)]
    for name, values in run.measures.items():
        assert values.ravel() == pytest.approx(frame[name].astype(float).to_numpy(), nan_ok=True)
    weights = av.capture(watch.model.eval(), tokens()[:1])[1].weights()[0]
    assert run.thumbnails[-1][6:] == pytest.approx(weights.numpy(), abs=1 / 255)


def test_a_line_that_is_still_being_written_is_left_out_and_a_wrong_one_is_named(watched):
    text = watched[0].read_text("utf-8")
    lines = text.splitlines(keepends=True)
    assert watched_run.parse("".join(lines[:2]) + lines[2][:-5]).steps.tolist() == [0, 2]
    short = json.dumps(json.loads(lines[1]) | {"entropy": [[1.0]]}) + "\n"
    for wrong in ("[]\n", "{\n", short, '{"step": 1, "loss": 2, "thumbnails": [{"shape": [1, 9, 99], "data": ""}]}\n'):
        with pytest.raises(Problem, match="2"):
            watched_run.parse(lines[0] + wrong)
    for nothing in ("", lines[0][:-5]):
        with pytest.raises(Problem):
            watched_run.parse(nothing)


def test_the_page_opens_a_path_and_a_hosted_one_reads_no_file_of_its_machine(watched, visit, monkeypatch):
    path = watched[0]
    link = {"born_section": "watched", "born_watch": str(path)}
    run = watched_run.read(path)
    shown = said(sound(visit("born", **link)))
    assert f"At step 5 the loss on the watched sentence is **{run.loss[-1]:.2f}** nats" in shown
    assert run.names[int(np.nanargmax(run.measures["sink_mass"][-1]))] in shown
    monkeypatch.setenv("ATTNVIZ_HOSTED", "1")
    page = visit("born", **link)
    assert "watched sentence is" not in said(page)
    assert not [box for box in page.text_input if box.value == str(path)]


@pytest.mark.parametrize(
    "scores, moment",
    [
        ([0.1, 0.6, 0.2, 0.5, 0.9], "born between steps 20 and 30"),
        ([0.5, 0.7], "from the first record on"),
        ([0.9, 0.4], "No head is born by step 10"),
        ([0.7], "from the first record on"),
    ],
)
def test_the_moment_is_named_where_a_head_keeps_half_of_its_weight(watched, scores, moment):
    run, measured = watched_run.read(watched[0]), np.array(scores)
    n, heads = len(scores), len(run.names)
    measures = {name: np.tile(measured[:, None], heads) for name in watched_run.MEASURES}
    own = replace(run, steps=10 * np.arange(n), loss=np.ones(n), measures=measures)
    assert moment in watched_panel.describe(own, n - 1)
