"""Faults, and what a visitor then reads: a sentence, or the same picture as ever; never an error.

Files that are damaged or forbidden, and disks that are full: in test_broken_files.py.

A process that is killed: here that of a training; of the class server in tests/browser/test_class_server.py, of Ray in
tests/cluster/test_ray_engine.py.
"""

import os
import re
import shutil
import subprocess
import threading
import time
from pathlib import Path

import pytest

from attnviz.analysis import own_process
from attnviz.app.cache import model_cache
from attnviz.app.cache.shared_results import finished_results
from attnviz.base.packed import unpack_blob
from attnviz.models.loading import cache_folder, load_model
from tests.broken_disks import filling_disk
from tests.models.loading import test_hub_download as hubs
from tests.models.tiny_tokenizers import gpt2_folder
from tests.pages.conftest import canvases_on
from tests.pages.scaling.test_page import figures

hub, files = hubs.hub, hubs.files
OTHER = {"model": "other", "text": "the cat sat"}


@pytest.fixture
def fresh(monkeypatch):
    """A server that has just started: nothing is in its memory."""
    start = model_cache.ProcessCaches()
    monkeypatch.setattr(model_cache, "_SHARED", start)
    return start


def started_again(monkeypatch):
    monkeypatch.setattr(model_cache, "_SHARED", model_cache.ProcessCaches())


@pytest.fixture
def mine(tmp_path):
    """A folder with a model of the visitor's own."""
    return Path(gpt2_folder(tmp_path / "mine"))


def agreed(visit, name, **link):
    page = visit("explore", **{**OTHER, "hub_id": str(name), **link})
    return page.button(key="agree").click().run()


def sentence(page):
    """The one refusal that the page shows; its text stays where it was typed."""
    assert not page.exception
    assert page.text_area(key="text").value == OTHER["text"]
    (refusal,) = page.error
    return re.sub(r"&#(\d+);", lambda found: chr(int(found[1])), refusal.value)


def heard(page):
    """What the two pictures were sent, without their headers, which differ from session to session."""
    assert not page.exception
    assert not page.error
    assert len(canvases_on(page)) == 2
    return [unpack_blob(bytes(each.proto.bytes))[1] for each in canvases_on(page)]


def test_a_disk_that_is_too_full_for_a_download_or_fills_up_during_it(visit, fresh, hub, files, monkeypatch):
    hub["some/tiny"] = files
    with monkeypatch.context() as patch:
        patch.setattr(cache_folder, "free_bytes", lambda _folder: 5)
        page = agreed(visit, "some/tiny")
    assert "some/tiny is a download of 0 MB, and the disk has 0 MB free" in sentence(page)
    room = len(files["model.safetensors"]) // 2
    with monkeypatch.context() as patch, filling_disk(Path(os.environ["HF_HUB_CACHE"]), room):
        patch.setattr(cache_folder, "free_bytes", lambda _folder: 10**9)
        said_then = sentence(page.run())
    assert re.search("some/tiny could not be downloaded: (No space left on device|File too large)", said_then)
    assert len(heard(page.run())) == 2, "there is room again"


def test_a_download_that_is_half_written(visit, fresh, hub, files, monkeypatch):
    hub["some/tiny"] = files
    before = heard(agreed(visit, "some/tiny"))
    (weights,) = Path(os.environ["HF_HUB_CACHE"]).rglob("model.safetensors")
    os.truncate(weights.resolve(), weights.stat().st_size // 2)
    started_again(monkeypatch)
    said_then = sentence(agreed(visit, "some/tiny"))
    assert "some/tiny" in said_then
    assert "safetensors" in said_then
    shutil.rmtree(os.environ["HF_HUB_CACHE"])
    started_again(monkeypatch)
    assert heard(agreed(visit, "some/tiny")) == before


def test_a_hub_whose_weights_are_none(visit, fresh, hub, files):
    page = None
    for weights in (b"", b"not weights", b"\xff" * 64):  # nothing, words, a length without end
        hub["some/tiny"] = {**files, "model.safetensors": weights}
        page = agreed(visit, "some/tiny") if page is None else page.run()
        assert "some/tiny" in sentence(page)
        shutil.rmtree(os.environ["HF_HUB_CACHE"], ignore_errors=True)


def test_a_hub_that_does_not_answer(visit, fresh, hub, files, monkeypatch):
    hub["some/tiny"] = files
    wake = threading.Event()
    monkeypatch.setattr(load_model, "_SLOW_SECONDS", 0.2)
    monkeypatch.setattr(hubs.Hub, "answer", lambda _self, body: wake.wait(20))
    try:
        said_then = sentence(agreed(visit, "some/tiny"))
    finally:
        wake.set()
    assert "The hub cannot be reached, so some/tiny cannot be downloaded" in said_then


LIES = {
    "a page instead of facts": b"<html>Please log in to this network</html>",
    "a list instead of facts": b"[1, 2]",
    "a number instead of facts": b"7",
    "facts without files": b"{}",
    "files that are no files": b'{"id": "some/tiny", "sha": "c", "siblings": [{"size": "large"}]}',
}


def test_a_hub_that_answers_nonsense(visit, fresh, hub, files, monkeypatch):
    hub["some/tiny"] = files
    page = None
    for what, lie in LIES.items():
        monkeypatch.setattr(hubs.Hub, "answer", lambda self, body, lie=lie: self.reply(200, {}, lie, body))
        page = agreed(visit, "some/tiny") if page is None else page.run()
        said_then = sentence(page)
        assert "some/tiny" in said_then
        assert "makes no sense" in said_then or "no safetensors" in said_then, what


@pytest.mark.slow
def test_a_hub_that_breaks_off(visit, fresh, hub, files, monkeypatch):
    """It promises a whole file and sends half of it, each time that it is asked."""
    hub["some/tiny"] = files
    whole = hubs.Hub.reply

    def half(self, status, headers, data, body):
        if not body or len(data) < 1000 or b'"siblings"' in data:
            whole(self, status, headers, data, body)
            return
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data[: len(data) // 2])
        self.close_connection = True

    monkeypatch.setattr(hubs.Hub, "reply", half)
    assert "some/tiny" in sentence(agreed(visit, "some/tiny"))


def test_a_model_that_is_gone(visit, fresh, mine, monkeypatch):
    page = agreed(visit, mine)
    heard(page)
    shutil.rmtree(mine)
    page.text_area(key="text").set_value("another one").run()
    assert not page.exception
    assert "There is no folder" in page.error[0].value
    assert page.text_area(key="text").value == "another one"


def test_a_clock_that_goes_back(visit, fresh, mine, tmp_path, monkeypatch):
    monkeypatch.setenv("ATTNVIZ_READINGS", str(tmp_path / "readings"))
    before = heard(agreed(visit, mine))
    (file,) = (tmp_path / "readings").iterdir()
    os.utime(file, (time.time() + 86_400,) * 2)  # as if it had been written before the clock was set back
    real = time.time
    monkeypatch.setattr(time, "time", lambda: real() - 86_400)
    started_again(monkeypatch)
    page = agreed(visit, mine)
    assert heard(page) == before
    heard(page.text_area(key="text").set_value("the cat sat on").run())
    assert len(list((tmp_path / "readings").iterdir())) == 2


@pytest.mark.slow
def test_a_training_whose_process_is_killed(visit, monkeypatch):
    finished_results.cache_clear()
    real = subprocess.Popen

    def doomed(*given, **named):
        child = real(*given, **named)
        child.kill()
        return child

    page = visit("scaling", s_section="training", s_dk="2048", s_steps="20", s_seeds="2")
    with monkeypatch.context() as patch:
        patch.setattr(own_process.subprocess, "Popen", doomed)
        page.button(key="s_train").click().run()
    assert not page.exception
    assert "ended early, with exit code" in page.error[0].value
    assert "s_stop" not in [button.key for button in page.button], "nothing is left to be stopped"
    page.button(key="s_train_again").click().run()
    assert not page.error
    assert figures(page) == 1
