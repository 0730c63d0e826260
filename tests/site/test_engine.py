"""What a browser computes of both models is what the library computes: every head, the logits, and under edits.

The library's numbers are those of a pass in 64 bits: in 32 its own are up to 6e-6 from them, the browser's 7e-6.
"""

import copy
import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import attnviz as av
from attnviz.models.tokens.encoding import encode
from attnviz.site.write_site import write_model
from tests.models.conftest import minilm, smollm2

__all__ = ["minilm", "smollm2"]

NODE = shutil.which("node", path=Path(sys.executable).parent) or shutil.which("node")
PACKAGES = Path(__file__).parents[2] / "node_modules" / "wabt"  #: a clone elsewhere has none
pytestmark = pytest.mark.skipif(
    NODE is None or not PACKAGES.is_dir(), reason="no Node with its packages; tests/js checks the parts by themselves"
)
SENTENCES = [
    "The animal didn't cross the street because it was too tired.",
    "The capital of Spain is",
    "I ate 3½ 🍕🍕 pies\n\ttoday, for ①②③ reasons",
    "猫はとても好きです。",
    "a",
    "مرحبا بالعالم",
    "שלום עולם",
    "नमस्ते दुनिया",
    "你好，世界！今天天气很好。",
    "Γειά σου Κόσμε",
    "def f(x):\n    return x ** 2  # squares",
    "1234567890 + 9876543210 = 11111111100",
    "    four spaces, then words   and three",
    "e\u0301 combined, é whole",
    "👩‍👩‍👧‍👦 a family of four",
    "<|im_start|>user\nHello<|im_end|>",
    "x" * 60,
    "I'll we've they're it's don't",
    "Ünïcödé ßtress ﬁ ﬂ ﬀ ligatures",
    "a.b.c...d!!e??f",
    "Türkçe karakterler: ğüşıöç",
    "ქართული ენა",
]


@pytest.fixture(scope="module")
def cards(tmp_path_factory) -> Any:
    """The files of a model as a site has them, written once each."""
    folder, known = tmp_path_factory.mktemp("site"), {}

    def card(name: str) -> tuple[Path, dict[str, Any]]:
        if name not in known:
            known[name] = json.loads((folder / write_model(name, folder).card["manifest"]).read_text("utf-8"))
        return folder, known[name]

    return card


def in_node(cards: Any, name: str, jobs: list[dict[str, Any]], out: Path, plain: bool = False) -> list[dict[str, Any]]:
    """What the engine makes of these sentences: ids, labels, logits, weights (L, H, T, T), also as they are drawn."""
    folder, card = cards(name)
    job = {"folder": str(folder), "card": card, "sentences": jobs, "out": str(out), "plain": plain}
    (out / "job.json").write_text(json.dumps(job), encoding="utf-8")
    script = Path(__file__).with_name("run_engine.mjs")
    run = subprocess.run([NODE, script, out / "job.json"], capture_output=True, encoding="utf-8", check=False)
    assert run.returncode == 0, run.stderr
    made = json.loads(run.stdout)
    for i, (told, each) in enumerate(zip(jobs, made, strict=True)):
        if not told.get("passed", True):
            continue
        n = len(each["ids"])
        shape = (card["layers"], card["heads"], n, n)
        for kind in ("weights", "drawn"):
            each[kind] = np.fromfile(out / f"{i}.{kind}", np.float32).reshape(shape)
        file = out / f"{i}.logits"
        each["logits"] = np.fromfile(file, np.float32) if file.exists() else None
    return made


def held_to_the_library(loaded: Any, sentences: list[str], made: list[dict[str, Any]]) -> None:
    exact = copy.deepcopy(loaded.model).double()
    for sentence, each in zip(sentences, made, strict=True):
        tokens = encode(loaded, sentence)
        assert tuple(each["ids"]) == tokens.ids, sentence
        assert tuple(each["labels"]) == tokens.labels, sentence
        if "weights" not in each:
            continue
        trace = av.capture(exact, **tokens.inputs)
        wanted = np.stack([layer.weights()[0].numpy() for layer in trace])
        for kind in ("weights", "drawn"):
            np.testing.assert_allclose(each[kind], wanted, atol=1e-5, err_msg=f"{kind}: {sentence}")
        if each["logits"] is not None:
            np.testing.assert_allclose(each["logits"], trace.logits[0].numpy(), atol=1e-4, err_msg=sentence)


@pytest.mark.parametrize("name, every", [pytest.param("smollm2-135m", 4, marks=pytest.mark.slow), ("minilm-l6", 1)])
def test_sentences_of_many_scripts_are_the_library_s(request, cards, name, every, tmp_path):
    """Their tokens, and of every fourth or of all of them the numbers of every head and the logits."""
    loaded = request.getfixturevalue(name.split("-")[0])
    jobs = [{"sentence": each, "passed": place % every == 0} for place, each in enumerate(SENTENCES)]
    held_to_the_library(loaded, SENTENCES, in_node(cards, name, jobs, tmp_path))


def test_without_the_kernel_the_same_comes(minilm, cards, tmp_path):
    jobs = [{"sentence": each} for each in SENTENCES[:2]]
    held_to_the_library(minilm, SENTENCES[:2], in_node(cards, "minilm-l6", jobs, tmp_path, plain=True))


@pytest.mark.slow
def test_edits_are_those_of_intervene(smollm2, cards, tmp_path):
    sentence = "The capital of Spain is"
    n = len(encode(smollm2, sentence))
    near = torch.ones(n, n, dtype=torch.bool).tril().triu(-1)
    edits = [
        ([av.ablate(23, 4)], [{"layer": 23, "head": 4, "silence": True}]),
        ([av.rescale(5, scale=0.5)], [{"layer": 5, "scale": 0.5}]),
        ([av.remask(mask=near)], [{"mask": near.int().flatten().tolist()}]),
        (
            [av.rescale(2, 1, scale=1.0), av.ablate(2, 1), av.remask(9, 0, mask=near)],
            [
                {"layer": 2, "head": 1, "scale": 1.0},
                {"layer": 2, "head": 1, "silence": True},
                {"layer": 9, "head": 0, "mask": near.int().flatten().tolist()},
            ],
        ),
    ]
    made = in_node(cards, "smollm2-135m", [{"sentence": sentence, "edits": theirs} for _, theirs in edits], tmp_path)
    inputs = encode(smollm2, sentence).inputs
    exact = copy.deepcopy(smollm2.model).double()
    plain = av.capture(exact, **inputs).logits[0].numpy()
    for (ours, _), each in zip(edits, made, strict=True):
        wanted = av.intervene(exact, ours, **inputs).logits[0].numpy()
        np.testing.assert_allclose(each["logits"], wanted, atol=1e-4)
        assert np.abs(wanted - plain).max() > 0.1
