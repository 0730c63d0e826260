"""Tiles, rows and answers of a long text against eager weights in float64, computed by another hand."""

import copy
import json
import shutil
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import torch

from attnviz.analysis import long_text
from attnviz.analysis.ask_text import ask_text, prompt_ids
from attnviz.analysis.model_run import Request, run_model
from attnviz.base.message import Problem
from attnviz.models.capture import intervene, knockout
from attnviz.models.tokens.units import spell_tokens, split_units
from attnviz.pages.explore.maths import long_texts

NODE = shutil.which("node", path=Path(sys.executable).parent) or shutil.which("node")
CHAPTER = 640  #: tokens of the chapter whose eager weights are computed in float64
PLACES = [(0, 1), (3, 4), (6, 3), (9, 0), (13, 8)]


@pytest.fixture(scope="module")
def chapter(smollm2):
    """The chapter as read here, and some heads' weights as transformers' eager attention computes them in float64."""
    run = run_model(Request("smollm2-135m", long_texts.shipped_text("alice"), limit=CHAPTER), smollm2)
    exact = copy.deepcopy(smollm2.model).double()
    exact.set_attn_implementation("eager")
    del exact.model.layers[14:]
    eager = {}

    def keep(layer):
        def hook(_module, _inputs, outputs):
            eager.update({at: outputs[1][0, at[1]].clone() for at in PLACES if at[0] == layer})

        return hook

    for layer, _head in PLACES:
        exact.model.layers[layer].self_attn.register_forward_hook(keep(layer))
    with torch.no_grad():
        exact.model(torch.tensor([run.source.ids]))
    return run, eager


@pytest.fixture(scope="module")
def page(smollm2):
    """The first page of the chapter, about which something is asked."""
    return run_model(Request("smollm2-135m", long_texts.shipped_text("alice"), limit=256), smollm2)


def made_in_a_browser(folder, layer, head, rule, jobs):
    """Weights that the worker of the picture makes of q and k under a rule."""
    vectors = [long_text.head_vectors(layer, head, kind) for kind in ("q", "k")]
    np.concatenate([part.ravel() for part in vectors]).tofile(folder / "vectors")
    asked = json.dumps({"n": CHAPTER, "width": vectors[0].shape[1], "rule": rule, "jobs": jobs})
    command = [NODE, Path(__file__).with_name("run_tiles.mjs"), folder, asked]
    run = subprocess.run(command, capture_output=True, encoding="utf-8", check=False)
    assert run.returncode == 0, run.stderr
    return [np.array(made) for made in json.loads(run.stdout)]


def tile_of(shown, step, i, j):
    """The largest of each block of a tile; -1 where all of it is masked."""
    part = shown[i * 256 * step :, j * 256 * step :][: 256 * step, : 256 * step]
    return part.unfold(0, step, step).unfold(1, step, step).amax((-1, -2)).numpy()


@pytest.mark.numbers
def test_tiles_and_rows_are_those_of_eager_weights_in_float64(chapter, tmp_path):
    run, eager = chapter
    back = torch.arange(CHAPTER)[:, None] - torch.arange(CHAPTER)
    tiles = [(1, 0, 0), (1, 2, 1), (1, 2, 2), (2, 1, 0), (4, 0, 0)]
    for (layer, head), tile in zip(PLACES, tiles, strict=True):
        recorded = run.trace.layers[layer]
        wanted = tile_of(torch.where(back >= 0, eager[layer, head], -1.0), *tile)
        lse = long_text.make_overview(recorded, head).lse
        for sums in (lse, np.empty(0, np.float32)):  # by the rows' sums, and as heads are that need more than those
            made = long_text.make_tile(recorded, head, sums, *tile).numpy()
            np.testing.assert_allclose(made, wanted, atol=2e-5, rtol=2e-3)
        rule = {"mask": "causal", "window": 0, "factor": recorded.scale}
        row = long_text.mean_row(recorded, head, 120, 150)
        torch.testing.assert_close(row.double(), eager[layer, head][120:150].mean(0), atol=2e-5, rtol=1e-3)
        (there,) = made_in_a_browser(tmp_path, recorded, head, rule, [["tile", *tile]])
        np.testing.assert_allclose(there.reshape(wanted.shape), wanted, atol=2e-5, rtol=2e-3)


@pytest.mark.numbers
def test_tiles_and_rows_under_another_mask_and_scale_are_those_of_a_softmax_in_float64(chapter, tmp_path):
    run, _ = chapter
    recorded = run.trace.layers[13]
    q, k, _ = (part.double() for part in recorded.qkv)
    scores = q[0, 8] @ k[0, 2].T
    back = torch.arange(CHAPTER)[:, None] - torch.arange(CHAPTER)
    rules = [
        ("none", 0, 0.125, back < CHAPTER),
        ("window", 40, 0.125, (back >= 0) & (back < 40)),
        ("causal", 0, 1.0, back >= 0),
    ]
    for mask, window, factor, seen in rules:
        weights = (scores * factor).masked_fill(~seen, -torch.inf).softmax(-1)
        rule = {"mask": mask, "window": window, "factor": factor}
        tiles = [(1, 2, 2), (2, 1, 0)]
        jobs = [["tile", *tiles[0]], ["tile", *tiles[1]], ["meanRow", 600, 630]]
        fine, coarse, row = made_in_a_browser(tmp_path, recorded, 8, rule, jobs)
        shown = torch.where(seen, weights, -1.0)
        for made, tile in zip((fine, coarse), tiles, strict=True):
            wanted = tile_of(shown, *tile)
            np.testing.assert_allclose(made.reshape(wanted.shape), wanted, atol=2e-5, rtol=1e-3)
        np.testing.assert_allclose(row, weights[600:630].mean(0), atol=1e-5, rtol=1e-3)


def causal(weights):
    return torch.where(torch.ones_like(weights).tril().bool(), weights, -1.0)


def test_an_overview_codes_every_block_and_a_weight_of_nine_tenths_is_seen_in_it(chapter):
    run, eager = chapter
    overview = long_text.make_overview(run.trace.layers[13], 8)
    assert overview.step == 2
    wanted = causal(eager[13, 8]).unfold(0, 2, 2).unfold(1, 2, 2).amax((-1, -2)).numpy()
    assert (overview.codes == 0).tolist() == (wanted < 0).tolist()
    told = 10 ** (((overview.codes.astype(float) - 1) / 254 - 1) * 5)
    np.testing.assert_allclose(told[wanted > 1e-5], wanted[wanted > 1e-5], rtol=0.024)
    one = torch.full((256, 256), 1 / 8192)
    one[7, 9] = 0.9
    codes = long_text.log_codes(long_text._largest_of_blocks(one, 16)).astype(int)
    assert codes.max() == codes[0, 0] == 253  # of 255: nearly the strongest colour
    assert np.delete(codes.ravel(), 0).max() < 70


def test_the_wall_shows_rows_that_were_computed_and_all_of_them_where_there_are_enough(chapter):
    run, eager = chapter
    layers = run.trace.layers[13:14]
    few, many = (long_text.sample_heads(layers, per_row)[8].astype(int) for per_row in (1, CHAPTER // 32))
    assert few.shape == (32, 32)
    assert (few <= many).all()  # a sampled row is one of the rows
    edges, seen = [n * CHAPTER // 32 for n in range(33)], causal(eager[13, 8])
    whole = torch.stack([torch.stack([seen[a:b, c:d].max() for c, d in pairwise(edges)]) for a, b in pairwise(edges)])
    codes = torch.where(whole < 0, 255, (whole.clamp(0, 1).sqrt() * 254).round()).numpy()
    assert np.abs(many - codes).max() <= 1


@pytest.mark.parametrize("hidden", [None, (60, 150)])
def test_what_an_answer_says_is_what_the_library_says(page, smollm2, hidden):
    """Tokens, what each of them read, and the heads that copied: passes over all of the text, under a knockout."""
    count, question = len(page.source), "Alice was beginning to get very tired of"
    answer = ask_text(page, smollm2, question, hidden, most=3)
    ids = [*page.source.ids, *prompt_ids(smollm2, page.source.texts[0], question)]
    hits = np.zeros(270)
    for step, row in enumerate(answer.rows):
        edits = [knockout(queries=range(count, len(ids)), keys=range(*hidden))] if hidden else []
        trace = intervene(smollm2.model, edits, input_ids=torch.tensor([ids]))
        weights = trace.row(-1).weights.flatten(0, 1)
        np.testing.assert_allclose(row[:, : len(ids)], weights, atol=1e-3)
        written = int(trace.logits[0].argmax())
        assert spell_tokens(smollm2.tokenizer, [written]) == [answer.labels[answer.asked + step]]
        best = weights.argmax(-1)
        hits += [int(at) < count and ids[at] == written for at in best]
        ids.append(written)
        assert not hidden or (row[:, slice(*hidden)] == 0).all()
    words = answer.words
    assert [words[0].start, *(word.stop for word in words)] == [*(word.start for word in words), len(answer.rows)]
    assert "".join(word.label for word in words) == answer.text.replace(" ", "")
    found = {9 * layer + head: share for layer, head, share in answer.retrieval}
    assert found == {head: pytest.approx(hits[head] / len(answer.rows)) for head in found}
    assert min(found.values(), default=0) >= np.sort(hits)[-len(found) - 1] / len(answer.rows)


def test_a_chat_is_asked_in_a_turn_of_its_own_and_a_question_has_its_length(page, smollm2):
    chat = long_texts.render_chat(long_texts.shipped_text("boat"), smollm2.tokenizer)
    asked = smollm2.tokenizer.decode(prompt_ids(smollm2, chat, "What is the code?"))
    with pytest.raises(Problem, match="A question has"):
        ask_text(page, smollm2, "why " * 500)
    assert asked == "<|im_start|>user\nWhat is the code?<|im_end|>\n<|im_start|>assistant\n"
    assert "Question:" in smollm2.tokenizer.decode(prompt_ids(smollm2, "A cat.", "Who?"))


def test_files_are_texts_or_chats_and_a_long_one_says_where_it_is_cut():
    assert len(long_texts.shipped_text("boat")) == 60
    turns = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Ho"}]
    for value in (turns, {"messages": turns}):
        assert long_texts.read_file(json.dumps(value).encode())[0] == (("user", "Hi"), ("assistant", "Ho"))
    for other in ('{"a": 1}', "[" * 9_999, '[{"role": "user", "content": "Hi"'):
        assert long_texts.parse_text(other) == (other, None)  # which only looks like a chat
    parts = [{"type": "text", "text": "Hi"}, {"type": "image_url", "image_url": {"url": "x"}}]
    saved = [{"role": "user", "content": parts}, {"role": "assistant", "content": None}]
    assert long_texts.parse_text(json.dumps(saved))[0] == (("user", "Hi"), ("assistant", ""))
    text, cut = long_texts.parse_text("word " * 25_000)
    assert len(text) == 100_000
    assert "100,000" in str(cut)
    for data in (b"\xff\xfe", b"a\x00b", b"  "):
        with pytest.raises(Problem):
            long_texts.read_file(data)


def test_a_pass_can_be_stopped_after_any_block(smollm2):
    shares = []

    def step(share):
        shares.append(share)
        if len(shares) == 4:
            raise Problem("stopped")

    with pytest.raises(Problem, match="stopped"):
        run_model(Request("smollm2-135m", "The cat sat."), smollm2, step)
    assert shares == [n / 30 for n in range(1, 5)]
    shares.clear()
    run_model(Request("smollm2-135m", "The cat sat."), smollm2, lambda share: shares.append(share))
    assert shares[-1] == 1


@pytest.mark.parametrize("kind", ["sentence", "paragraph"])
def test_no_sentence_of_a_chat_goes_over_into_the_next_turn(smollm2, kind):
    chat = long_texts.render_chat(long_texts.shipped_text("boat"), smollm2.tokenizer)
    ids = smollm2.tokenizer(chat)["input_ids"]
    turns = [unit.start for unit in split_units(smollm2.tokenizer, ids, "turn")]
    assert len(turns) == 61  # the template puts a system turn before them
    assert set(turns) <= {unit.start for unit in split_units(smollm2.tokenizer, ids, kind)}
