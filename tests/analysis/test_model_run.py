import os
from dataclasses import asdict

import pytest
import torch

from attnviz.analysis import model_run
from attnviz.analysis.model_run import Request, run_model
from attnviz.base.message import Problem


def test_an_empty_sentence_is_refused_a_long_one_is_cut_and_a_frame_that_is_not_there_is_the_usual_one(minilm):
    for text in ("", "   ", "\n\t"):
        with pytest.raises(Problem, match="The sentence is empty"):
            run_model(Request("minilm-l6", text), minilm)
    assert run_model(Request("minilm-l6", "a cat", frame="chat"), minilm).source.frame == "usual"
    run = run_model(Request("minilm-l6", "cat " * 5000), minilm)
    assert len(run.source) <= minilm.max_tokens
    assert "Cut at" in str(run.notices[0])


# A pass that one process wrote is read by another, is the same to the bit, and is nobody else's.
HERE = Request("minilm-l6", "A sentence that only its writer knows.")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    place = tmp_path / "readings"
    monkeypatch.setenv("ATTNVIZ_READINGS", str(place))
    return place


def no_pass(*_args, **_options):
    raise AssertionError("the model was run again")


def test_the_second_process_runs_no_model_and_has_the_same_numbers(folder, minilm, monkeypatch):
    first = run_model(HERE, minilm)
    monkeypatch.setattr(model_run, "capture", no_pass)
    second = run_model(HERE, minilm)
    assert len(first.trace.layers) == len(second.trace.layers) == 6
    for mine, theirs in zip(first.trace.layers, second.trace.layers, strict=True):
        torch.testing.assert_close(mine.weights(), theirs.weights(), rtol=0, atol=0)
    assert [each.id for each in first.stacks] == [each.id for each in second.stacks]


def test_names_tell_nothing_only_the_owner_may_read_and_what_is_cut_short_is_read_anew(folder, minilm):
    run = run_model(HERE, minilm)
    for other in (Request("minilm-l6", HERE.text + "!"), Request("minilm-l6", HERE.text, version="2")):
        assert model_run.find_reading(asdict(other)) is None, "another sentence, another state of the files"
    (file,) = folder.iterdir()
    assert not any(word in file.name for word in HERE.text.split())
    assert file.stat().st_mode & 0o077 == 0
    assert folder.stat().st_mode & 0o077 == 0
    file.write_bytes(file.read_bytes()[:1000])
    again = run_model(HERE, minilm)
    torch.testing.assert_close(run.trace.layers[0].weights(), again.trace.layers[0].weights(), rtol=0, atol=0)


def test_a_folder_that_others_can_read_is_not_used(folder, minilm):
    folder.mkdir()
    folder.chmod(0o755)
    run_model(HERE, minilm)
    assert list(folder.iterdir()) == []


def test_the_folder_holds_no_more_than_its_limit_and_loses_the_oldest(folder, minilm, monkeypatch):
    texts = [f"sentence {number}" for number in range(4)]
    run_model(Request("minilm-l6", texts[0]), minilm)
    size = next(folder.iterdir()).stat().st_size
    monkeypatch.setattr(model_run, "LIMIT", round(2.5 * size))
    for age, text in enumerate(texts[1:]):
        os.utime(max(folder.iterdir(), key=os.path.getmtime), (age, age))
        run_model(Request("minilm-l6", text), minilm)
    assert sum(path.stat().st_size for path in folder.iterdir()) <= 2.5 * size
    assert model_run.find_reading(asdict(Request("minilm-l6", texts[-1]))) is not None
    assert model_run.find_reading(asdict(Request("minilm-l6", texts[0]))) is None
