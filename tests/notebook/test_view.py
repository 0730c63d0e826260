"""`av.show`: what stands in the cell, and what is saved."""

import base64
import csv
import html
import re
import struct
import zlib
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from PIL import Image
from torch.testing import assert_close

import attnviz as av
from attnviz.base.message import Problem
from attnviz.base.packed import unpack_blob
from attnviz.live.long_text_file import PARTS
from attnviz.notebook import view as view_module
from attnviz.notebook.long_text_view import LongTextView
from tests.live.test_page import scores_in
from tests.models.tiny import llama, tokens

WORDS = ["<b>", "</script>", '"', "cat", "猫", "&lt;", "end"]


def page_in(cell: str) -> str:
    """The file inside the frame, as a browser reads the attribute."""
    found = re.search(r'srcdoc="([^"]*)"', cell)
    assert found is not None
    return html.unescape(found[1])


def test_the_cell_is_a_frame_whose_scripts_cannot_reach_the_notebook() -> None:
    cell = av.show(av.capture(llama(), input_ids=tokens()), WORDS, layer=1, head=4)._repr_html_()
    assert re.findall(r'sandbox="([^"]*)"', cell.split("srcdoc")[0]) == ["allow-scripts allow-downloads"]
    outside = re.sub(r'srcdoc="[^"]*"', "", cell)
    assert "<script" not in outside
    assert "resize:vertical" in outside
    assert "data:image/svg+xml;base64," in outside
    assert page_in(cell).startswith("<!doctype html>")
    assert "</script><" not in page_in(cell).split('id="attnviz-view">')[1].split("</script>")[0]


def test_the_file_holds_the_scores_of_every_head_of_the_chosen_sentence() -> None:
    trace = av.capture(llama(), input_ids=tokens())
    for row in (0, 1):
        header, scores = scores_in(av.show(trace, WORDS, row=row).html)
        assert header["heads"] == [6, 6]
        expected = torch.cat([layer.stages_of(list(range(6))).scores[row] for layer in trace])
        assert_close(torch.tensor(scores, dtype=torch.float32), expected, atol=2e-3, rtol=1e-3)


def test_arrays_and_a_cache_of_patterns_give_the_same_picture() -> None:
    rng = np.random.default_rng(0)
    arrays = [rng.dirichlet(np.ones(5), (3, 5)) for _ in range(2)]
    cache = {
        f"blocks.{n}.attn.hook_{kind}": torch.tensor(a)[None] for n, a in enumerate(arrays) for kind in ("pattern", "z")
    }
    assert av.show(arrays).html == av.show(cache).html == av.show(np.stack(arrays)).html
    assert av.show(arrays).queries == list("01234")


def test_saving_writes_what_the_ending_says(tmp_path: Path) -> None:
    trace = av.capture(llama(), input_ids=tokens())
    view = av.show(trace, WORDS, layer=1, head=3)
    assert view.save(tmp_path / "x.html").read_text("utf-8") == view.html
    assert view.save(tmp_path / "x.svg").read_text("utf-8").startswith("<svg")
    with view.save(tmp_path / "x.csv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert [row["key_token"] for row in rows[:7]] == WORDS
    told = np.array([float(row["weight"]) for row in rows]).reshape(7, 7)
    # two ways through float32: a score of 18 that sums 8 products is off by 18 * 8 * 2^-24, and so is its exponential
    np.testing.assert_allclose(told, trace[1].weights(3)[0, 0].numpy(), rtol=18 * 8 * 2**-24)
    width, height = struct.unpack(">II", view.save(tmp_path / "x.png").read_bytes()[16:24])
    size = re.search(r'width="([\d.]+)" height="([\d.]+)"', view.svg)
    assert [width, height] == [pytest.approx(2 * float(each), abs=1) for each in size.groups()]
    with pytest.raises(Problem, match=r"must end in \.html, \.svg, \.png, \.gif, \.webp or \.csv"):
        view.save(tmp_path / "x.pdf")


def sent_with(view: LongTextView) -> tuple[dict[str, Any], bytes]:
    """What the file of a long text's view holds."""
    packed = re.search(r'id="attnviz-heads">([^<]*)<', view.html)
    return unpack_blob(zlib.decompress(base64.b64decode(packed[1])))


def test_a_long_trace_is_some_heads_of_q_and_k_and_what_is_too_large_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(view_module, "LONG", 1)  # a text of seven tokens is a long one
    trace = av.capture(llama(), input_ids=tokens())
    view = av.show(trace, WORDS, layer=-1, head=4, row=1)
    assert isinstance(view, LongTextView)
    assert [f'data-theme="{theme}"' in av.show(trace, theme=theme).html for theme in ("light", "dark")] == [True, True]
    header, payload = sent_with(view)
    assert header["tokens"] == [f"{word} " for word in WORDS]
    assert header["state"]["tile"] == [1, 4]
    places = {name: (start, stop) for name, start, stop in header["parts"]}
    layer = trace[1]
    width = layer.qkv[0].shape[-1]
    q, k = (
        np.frombuffer(payload[slice(*places[f"{PARTS.index(part)}.1.4"])], "<f2").reshape(7, width).astype(float)
        for part in ("q", "k")
    )
    profiles = trace.profiles()
    assert header["profiles"][6 + 4]["sink"] == pytest.approx(profiles.sink_mass[1, 1, 4].item(), abs=1e-4)
    raised = np.exp(q @ k.T * layer.scale) * np.tri(7)
    weights = raised / raised.sum(-1, keepdims=True)
    np.testing.assert_allclose(weights, layer.weights(4)[1, 0], atol=2e-3)  # 16 bits of q and k
    assert "<image" in view.save(tmp_path / "x.svg").read_text("utf-8") or "<path" in view.svg
    assert view.save(tmp_path / "x.png").read_bytes()[1:4] == b"PNG"
    for ending, said in ((".csv", "too large for a table"), (".gif", "does not move")):
        with pytest.raises(Problem, match=said):
            view.save(tmp_path / f"x{ending}")
    with pytest.raises(Problem, match="head 9 does not exist"):
        av.show(trace, head=9)
    with pytest.raises(Problem, match="there are 2 tokens for 7"):
        av.show(trace, ["a", "b"])
    with pytest.raises(Problem, match="is one string"):
        av.show(trace, "seven w")
    saved = replace(trace, tokens=tuple(WORDS))  # as from a file, which has no tokenizer
    assert list(av.show(saved).text.tokens) == [f"{word} " for word in WORDS]
    several = av.show(trace, WORDS, heads=[(-1, 4), (1, -3), (0, 0)])
    header, payload = sent_with(several)
    places = {name: payload[start:stop] for name, start, stop in header["parts"]}
    assert header["state"]["tile"] == [1, 4]
    for index, head in ((1, 4), (1, 3), (0, 0)):
        for kind in ("q", "k"):
            vectors = trace[index].qkv[kind == "k"][0, head // (3 if kind == "k" else 1)]
            assert places[f"{PARTS.index(kind)}.{index}.{head}"] == vectors.numpy().astype("<f2").tobytes()
    assert len(payload) == sum(map(len, set(places.values())))  # heads of a group have their keys once
    with pytest.raises(Problem, match="head 9 does not exist"):
        av.show(trace, heads=[(0, 0), (0, 9)])
    monkeypatch.setattr("attnviz.notebook.long_text_view.LARGEST", 20_000)
    with pytest.raises(Problem, match="show fewer heads or tokens"):
        _ = av.show(trace, WORDS).html


@pytest.mark.parametrize("kind", ["gif", "webp"])
def test_saved_as_a_film_is_the_row_that_tells_most_and_only_of_a_head_with_scores(tmp_path: Path, kind: str) -> None:
    trace = av.capture(llama(), input_ids=tokens())
    view = av.show(trace, WORDS, layer=1, head=3, theme="dark")
    film: Any = Image.open(view.save(tmp_path / f"x.{kind}"))
    assert (film.format, film.size) == (kind.upper(), (1280, 720))
    assert film.n_frames > 20, "frames that are alike are one"
    assert max(film.convert("RGB").getpixel((2, 2))) < 40
    with pytest.raises(Problem, match="weights alone"):
        av.show([trace[1].weights()[0]]).save(tmp_path / f"y.{kind}")


@pytest.mark.parametrize(
    "given, more, said",
    [
        ("text", {}, "str holds no attention weights"),
        ([np.ones((2, 3, 3)), np.ones((2, 4, 4))], {}, "weights of different shapes"),
        ([np.ones((2, 3, 3))], {"tokens": ["a"]}, "there are 1 tokens for 3 queries"),
        ([np.ones((2, 3, 3))], {"layer": 4}, r"layer=4 is not among \[0\]"),
        ([np.ones((2, 3, 3))], {"head": 2}, "head 2 does not exist: layer 0 has heads 0 to 1"),
    ],
)
def test_what_cannot_be_shown_is_said(given: object, more: dict[str, object], said: str) -> None:
    with pytest.raises(Problem, match=said):
        av.show(given, **more)
