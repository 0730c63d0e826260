"""Downloads from a local server that answers like the hub; no test uses the network."""

import contextlib
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import huggingface_hub
import pytest
import torch
from huggingface_hub import constants
from safetensors.torch import save

from attnviz.base.message import Problem
from attnviz.models.loading import locate
from attnviz.models.loading.load_model import load
from tests.models.tiny import llama
from tests.models.tiny_tokenizers import saved

COMMIT = "c" * 40


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """The files of a repository with a tiny model and its tokenizer."""
    folder = tmp_path_factory.mktemp("tiny")
    saved(llama(), folder)
    return {path.name: path.read_bytes() for path in folder.iterdir()}


class Hub(BaseHTTPRequestHandler):
    """Answers like the hub: information about repositories as JSON, files with a commit hash and an ETag."""

    repositories: dict = {}  # noqa: RUF012
    asked: list = []  # noqa: RUF012

    def do_HEAD(self):
        self.answer(body=False)

    def do_GET(self):
        self.answer(body=True)

    def log_message(self, *given):
        pass

    def answer(self, body):
        self.asked.append(self.path)
        path = self.path.split("?")[0].removeprefix("/api/models/").strip("/")
        parts = path.split("/")
        repository = self.repositories.get("/".join(parts[:2]))
        if repository is None:
            return self.reply(404, {"X-Error-Code": "RepoNotFound"}, b"{}", body)
        if isinstance(repository, tuple):
            return self.reply(repository[0], repository[1], b"{}", body)
        if "/api/" in self.path:
            every = [{"type": "file", "path": n, "rfilename": n, "size": 9, "oid": "0" * 40} for n in repository]
            facts = {"id": "/".join(parts[:2]), "sha": COMMIT, "siblings": every}
            return self.reply(200, {}, json.dumps(every if "/tree/" in self.path else facts).encode(), body)
        data = repository.get(parts[-1])
        if data is None:
            return self.reply(404, {"X-Error-Code": "EntryNotFound"}, b"", body)
        if isinstance(data, tuple):
            return self.reply(*data, b"", body)
        return self.reply(200, {"X-Repo-Commit": COMMIT, "ETag": f'"{parts[-1]}-{len(data)}"'}, data, body)

    def reply(self, status, headers, data, body):
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        if body:
            with contextlib.suppress(BrokenPipeError):
                self.wfile.write(data)


@pytest.fixture
def hub(monkeypatch, tmp_path):
    """Start a local hub with empty caches; returns its repositories, to which a test adds files."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Hub)
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    aim(monkeypatch, f"http://127.0.0.1:{server.server_port}", tmp_path)
    Hub.repositories, Hub.asked = {}, []
    yield Hub.repositories
    server.shutdown()
    server.server_close()


def aim(monkeypatch, endpoint, tmp_path):
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "hub"))
    monkeypatch.setenv("ATTNVIZ_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("ATTNVIZ_HUB", "1")
    monkeypatch.setattr(constants, "ENDPOINT", endpoint)
    monkeypatch.setattr(constants, "HUGGINGFACE_CO_URL_TEMPLATE", endpoint + "/{repo_id}/resolve/{revision}/{filename}")
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "hub"))
    monkeypatch.setattr(constants, "HF_HUB_DISABLE_XET", True)
    monkeypatch.setattr(huggingface_hub.hf_api.api, "endpoint", endpoint)


def test_a_model_is_downloaded_once_with_progress_and_then_found_on_this_machine(hub, files):
    hub["some/tiny"] = {**files, "pytorch_model.bin": b"pickle", "onnx/model.onnx": b"x"}
    told = []
    assert locate.availability("some/tiny").source == "hub"
    loaded = load("some/tiny", lambda share, what: told.append((share, str(what))))
    assert loaded.source == "hub cache"
    assert any(what.startswith("Downloading") for _, what in told)
    assert all(0 <= share <= 1 for share, _ in told)
    for name, weight in llama().state_dict().items():
        assert torch.equal(loaded.model.state_dict()[name], weight)
    assert not any("pytorch_model" in path or "onnx" in path for path in Hub.asked)
    Hub.asked.clear()
    assert load("some/tiny").source == "hub cache"
    assert not Hub.asked


def described(**config):
    """A repository whose config says this."""
    return {"config.json": json.dumps(config).encode(), "model.safetensors": save({"x": torch.zeros(1)})}


GATED = (403, {"X-Error-Code": "GatedRepo"})
MAMBA = {"model_type": "mamba", "architectures": ["MambaForCausalLM"], "num_hidden_layers": 1}


@pytest.mark.parametrize(
    "answer, sentence",
    [
        (None, "There is no model some/tiny on the hub, or it is private"),
        ((401, {"X-Error-Code": "RepoNotFound"}), "There is no model some/tiny on the hub, or it is private"),
        (GATED, "some/tiny is gated"),
        ((429, {}), "The hub refused some/tiny: 429"),
        ({"model.safetensors": b"", "config.json": GATED}, "some/tiny is gated: its owner gives access on the hub"),
        ({"config.json": b"{}", "pytorch_model.bin": b"pickle"}, "some/tiny has no safetensors on the hub"),
        (
            {"adapter_config.json": b"{}", "adapter_model.safetensors": b""},
            "some/tiny is an adapter, not a whole model",
        ),
        (described(model_type="mine", auto_map={"AutoModel": "x.Y"}), "runs only with code of its own"),
        (described(**MAMBA), "no attention layers"),
        (described(model_type="llama", num_hidden_layers=1, vocab_size=10**12), "too large for this machine"),
    ],
)
def test_each_refusal_of_the_hub_is_reported_in_one_sentence(hub, answer, sentence):
    """Before the weights come, also of a model that cannot be shown."""
    if answer is not None:
        hub["some/tiny"] = answer
    with pytest.raises(Problem, match=sentence):
        load("some/tiny")
    assert not any("pytorch_model" in path or path.endswith(".safetensors") for path in Hub.asked)


def test_with_the_hub_switched_off_no_request_is_sent(hub, monkeypatch):
    monkeypatch.setenv("ATTNVIZ_HUB", "0")
    with pytest.raises(Problem, match="some/tiny is not on this machine, and downloading from the hub is switched off"):
        load("some/tiny")
    assert not Hub.asked
