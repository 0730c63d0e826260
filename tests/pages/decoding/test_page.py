"""The page about decoding as a visitor uses it: every section, links, nonsense, stopping, a server for strangers."""

from html import unescape

import numpy as np
import pytest

from attnviz.app import live_run
from attnviz.base import units
from attnviz.base.rounding import Rounded
from attnviz.base.units import binary
from attnviz.figures.theme import K_VERMILION, SERIES, V_GREEN
from attnviz.live.scene_figure import SceneFigure
from attnviz.pages.decoding.maths import decoders, quantised_cache, token_by_token
from attnviz.pages.decoding.maths.decoders import CORE_LAYERS
from attnviz.pages.decoding.panels import decoder_form
from attnviz.pages.decoding.panels import player as player_panel
from attnviz.serve.headless import app_link, run_page
from tests.pages.conftest import drawn, said, sound, with_code
from tests.pages.decoding.conftest import core_cache_bytes, largest_difference
from tests.svg_reading import SVG, painted, texts, tree

CORE = {"d_model": "core"}
SHORT = "the cat sat on the mat"
VIEWS = ["steps", "bytes", "numbers", "policies", "speed", "traps"]


@pytest.fixture(autouse=True)
def nothing_finished():
    live_run.finished.cache_clear()


@pytest.mark.parametrize("view", VIEWS)
def test_every_section_computes_and_says_what_to_see(visit, view):
    page = sound(visit("decoding", d_view=view, d_text="the cat sat on the mat", **CORE))
    assert page.get("plotly_chart") or page.get("bidi_component")
    assert with_code(page).code


def test_the_player_is_sent_every_step_and_what_is_said_of_the_two_ways_is_what_was_computed(visit):
    *_partial, run = token_by_token.run(decoder_form.core_decoder(0), token_by_token.Config("hello", 4, 1.5, 2))
    page = visit("decoding", d_prompt="hello", d_steps="4", d_t="1.5", d_seed="2", **CORE)
    header, payload = drawn(page, "step_player")
    assert header["total"] == len(header["steps"]) == 4
    assert header["labels"][:5] == list("hello")
    assert len(header["labels"]) == 5 + 4
    assert [step["tokens"] for step in header["steps"]] == [[5, 5], [1, 6], [1, 7], [1, 8]]
    rows, (d, dv) = header["rows"], header["widths"]
    assert rows == 8
    assert len(payload) == 4 * (2 * rows * d + 2 * rows * dv + rows * rows)
    assert header["at"] == 3
    assert page.metric[0].label == "Largest difference of a logit"
    assert float(page.metric[0].value) < 1e-4
    assert run.steps[-1].same_choice
    assert "step 4 processed: **1** with the cache, **8** without. Both agree on the likeliest next token." in said(
        page
    )
    assert "Probabilities are the model’s own; at temperature 1.5 the draw is made from others." in said(page)
    assert f"of 32-bit numbers, {largest_difference(run) / _logit_there(run):.0e} of the largest |logit|" in said(page)
    once = visit("decoding", d_prompt="hello", d_steps="1", **CORE)
    assert "Their logits agree in every digit." in said(once)
    assert "at temperature" not in said(once)


def test_at_every_step_tokens_times_their_bytes_are_the_bytes_on_show(visit):
    """The headline's tokens and the panel's bytes are of one moment, and the sentence below is of the same."""
    of_a_layer = core_cache_bytes(1) // CORE_LAYERS
    for at in range(4):
        page = visit("decoding", d_prompt="hello", d_steps="4", d_at=str(at), **CORE)
        header, _payload = drawn(page, "step_player")
        step = header["steps"][at]
        assert step["context"] == 5 + at == step["tokens"][1]
        assert step["layer_bytes"] == [step["context"] * of_a_layer] * CORE_LAYERS
        product = f"After step {at + 1}, tokens × K/V heads × numbers × bytes in layer 0: {step['context']} × "
        assert product in said(page)
        assert f" = **{step['context'] * of_a_layer:,} B**" in said(page)
        once, again = step["tokens"]
        assert f"step {at + 1} processed: **{once}** with the cache, **{again}** without." in said(page)


def _logit_there(run):
    return next(step.largest_logit for step in run.steps if step.difference == largest_difference(run))


def test_a_command_gets_the_figure_of_the_whole_run(monkeypatch):
    monkeypatch.setattr(live_run, "AT_A_TIME", 0)
    monkeypatch.setattr(live_run, "FIRST_AFTER", 0)
    answer = run_page(app_link("decoding?d_model=core&d_prompt=hello&d_steps=4"), "d_player_save")
    assert len(answer.figure.table["weight"]) == 5 + 4 - 1
    assert (
        answer.figure.title
        == "Step 4 of 4: “" + answer.figure.table["token"][-1] + "” alone is processed; then 8 tokens are in the cache"
    )


@pytest.mark.parametrize("background, ground", [("white", "#FFFFFF"), ("dark", "#14161C")])
def test_a_file_shows_all_of_the_player(background, ground):
    *_partial, run = token_by_token.run(decoder_form.core_decoder(0), token_by_token.Config("hello", 4))
    figure = decoder_form.step_figure(run, 1, 2, 2)  # a step from the end, so that one row is still to come
    film, end = figure.film, 7
    root = tree(SceneFigure((figure,), figure.title), background=background, title=figure.title)
    written = texts(root)
    for number, (vectors, colour) in enumerate(((film.k, K_VERMILION), (film.v, V_GREEN))):
        before = number * (end + 1) + 1  # rows that stand apart, each drawn alone; above K its q, above V the output
        seen = np.concatenate([painted(root, (1, vectors.shape[1]), before + row) for row in range(end)])
        shares = vectors[:end] / np.abs(vectors).max()
        below, own, other = ([int(code[i : i + 2], 16) for i in (1, 3, 5)] for code in (ground, colour, "#8A8F98"))
        part = (0.06 + 0.9 * np.sqrt(np.abs(shares)))[..., None]
        wanted = (1 - part) * below + part * np.where(shares[..., None] < 0, other, own)
        assert np.abs(seen - wanted).max() <= 2
    shares = [
        *film.weights[end - 1, :end].tolist(),
        *(share for _label, share, _chosen in figure.steps[2].alternatives),
    ]
    assert {f"{Rounded(share):.1%}" for share in shares if share >= 0.001} <= set(written)
    marks = [path for path in root.iter(f"{SVG}path") if "A4 4 0" in path.get("d", "")]
    assert [mark.get("fill") == "none" for mark in marks] == [True, False] * (end - 1) + [False, False]
    said = {
        *("Next token", "K in the cache", "V in the cache", "tokens, this step", "1", "7"),
        units.flop(sum(step.cached.flops for step in run.steps[:3])),
        units.flop(sum(step.anew.flops for step in run.steps[:3])),
        f"Cache: {units.binary(core_cache_bytes(7))} in {CORE_LAYERS} layers",
    }
    assert said <= set(written)
    assert [text for text in written if text in "hello"][:5] == list("hello")
    assert any("Largest difference between their logits" in text for text in written)


def test_the_link_holds_the_step_the_head_and_the_run(visit):
    page = visit(
        "decoding", d_prompt="hello", d_steps="5", d_at="2", d_layer="1", d_head="3", d_t="1.2", d_seed="7", **CORE
    )
    header, _payload = drawn(page, "step_player")
    assert header["at"] == 2
    assert "Layer 1, head 3 of 4, which reads K/V head 1 of 2." in said(page)
    assert "After step 3" in said(page)
    other = visit("decoding", d_prompt="hello", d_steps="5", d_t="1.2", d_seed="8", **CORE)
    assert drawn(other, "step_player")[0]["labels"] != header["labels"]


def test_layers_and_heads_beyond_the_model_show_its_last(visit):
    page = visit("decoding", d_layer="999", d_head="999", d_steps="2", **CORE)
    assert "Layer 3, head 3 of 4" in said(page)
    answers = unescape(said(page))
    assert "The link asks for “Layer, from 0” = “999”; here it goes up to 3, which is shown instead." in answers
    assert "The link asks for “Head, from 0” = “999”; here it goes up to 3, which is shown instead." in answers


@pytest.mark.parametrize("view, names", [("steps", ("d_layer", "d_head")), ("policies", ("d_kept_layer",))])
def test_the_boxes_for_a_layer_and_a_head_show_and_allow_what_there_is(visit, view, names):
    page = visit("decoding", d_view=view, d_steps="2", d_text="the cat sat on the mat", **CORE)
    for name in names:
        box = page.number_input(key=name)
        assert box.max == 3
        assert 0 <= box.value <= 3
    assert "The link asks" not in said(page)  # nobody chose the usual head, which only a larger model has


@pytest.mark.parametrize(
    "link, words",
    [
        ({"d_prompt": " "}, "The prompt is empty: type at least one word"),
        ({"d_prompt": "x" * 400}, "The prompt has 400 tokens and 8 are to be written"),
        ({"d_prompt": "<b>**x**</b> $y$", "d_steps": "2"}, "By formula:"),
        ({"d_steps": "0"}, "Zero steps: the prompt is processed, and nothing is written"),
        ({"d_steps": "<b>"}, "it must be a whole number from 0 to 48"),
        ({"d_view": "policies", "d_text": ""}, "The prompt is empty"),
        ({"d_view": "policies", "d_text": "short"}, "this takes at least 8: type more"),
        ({"d_view": "numbers", "d_text": "y" * 300}, "first 256 tokens of the text are read, of 300"),
        ({"d_view": "traps", "d_sentence": " "}, "There is no word in the sentence"),
    ],
)
def test_nonsense_is_answered_in_a_sentence(visit, link, words):
    page = visit("decoding", **(CORE | link))
    shown = said(page).replace("&#58;", ":").replace("&#46;", ".").replace("&#45;", "-")
    assert words in shown
    assert "<b>" not in shown


def test_bytes_show_llamas_numbers(visit):
    page = visit("decoding", d_view="bytes", d_grown="64", **CORE)
    assert "**Llama-3.1-8B** adds **128 KiB** a token" in said(page)
    assert "At 4,096 tokens, numbers in bfloat16: MHA 2 GiB, GQA 512 MiB, MQA 64 MiB, MLA 144 MiB." in said(page)
    assert "MLA keeps one latent of 512 numbers and a rotated key of 64 in each layer." in said(page)


def test_a_cache_of_which_bytes_are_told_is_told_with_the_width_of_its_numbers(visit):
    """The same cache is counted at 16 bits on one page and at its own 32 on another: neither is left to be guessed."""
    page = visit("decoding", d_view="policies", d_text=SHORT, d_policy="window", d_budget="4", **CORE)
    whole = core_cache_bytes(len(SHORT))
    assert f"**{binary(whole - core_cache_bytes(4))}** of {binary(whole)}, at 32 bits a number, are saved" in said(page)
    assert f"takes {binary(whole // 2)} at 16 bits" in said(visit("decoding", d_view="numbers", d_text=SHORT, **CORE))


def test_the_logits_of_a_run_are_told_with_their_sign_or_as_a_size(visit):
    """The largest in size can be negative, and is then not the largest."""
    *_partial, run = token_by_token.run(decoder_form.core_decoder(0), token_by_token.Config("hello", 4))
    page = visit("decoding", d_prompt="hello", d_steps="4", **CORE)
    size = next(metric for metric in page.metric if "|logit|" in metric.label)
    assert size.value == f"{_logit_there(run):.1f}"
    logits = decoders.read(decoder_form.core_decoder(0), SHORT).logits
    rounded = visit("decoding", d_view="numbers", d_text=SHORT, **CORE)
    assert f"where logits lie between {logits.min():.1f} and {logits.max():.1f}." in said(rounded).replace("−", "-")


def test_where_no_key_is_rounded_by_channel_it_is_not_said_what_rounding_by_channel_does(visit):
    short, long = (visit("decoding", d_view="numbers", d_text=text, **CORE) for text in (SHORT, 4 * SHORT))
    assert "all keys still wait for it" in said(short)
    assert "where each channel has one for 32 tokens" not in said(short)
    assert "where each channel has one for 32 tokens" in said(long)


def test_a_cache_of_which_one_format_is_computed_so_far_is_drawn(visit, monkeypatch):
    monkeypatch.setattr(live_run, "AT_A_TIME", 0.0)
    monkeypatch.setattr(live_run, "FIRST_AFTER", 0.0)
    real = quantised_cache.run

    def stopped(*arguments):
        for result in real(*arguments):
            live_run._set("numbers", True)  # as the button does
            yield result

    monkeypatch.setattr(quantised_cache, "run", stopped)
    page = sound(visit("decoding", d_view="numbers", d_text=SHORT, **CORE))
    assert "in int8, scales included" in said(page)
    assert "In int4" not in said(page)


def test_a_run_is_drawn_as_it_comes_and_can_be_stopped(visit, monkeypatch):
    monkeypatch.setattr(live_run, "AT_A_TIME", 0.0)
    monkeypatch.setattr(live_run, "FIRST_AFTER", 0.0)
    runs = []
    real = token_by_token.run

    def counted(*arguments):
        for result in real(*arguments):
            runs.append(len(result.steps))
            if len(result.steps) == 3:
                live_run._set("steps", True)  # as the button does
            yield result

    monkeypatch.setattr(token_by_token, "run", counted)
    page = visit("decoding", d_prompt="hello", d_steps="6", **CORE)
    assert runs == [1, 2, 3]
    assert drawn(page, "step_player")[0]["total"] == 6
    assert len(drawn(page, "step_player")[0]["steps"]) == 3
    page.button(key="live_go_steps").click().run()
    assert runs == [1, 2, 3, 4, 5, 6]
    assert len(drawn(page, "step_player")[0]["steps"]) == 6
    visit("decoding", d_prompt="hello", d_steps="6", **CORE)
    assert runs == [1, 2, 3, 4, 5, 6], "another visitor is shown the finished run"


def test_the_example_is_there_before_the_first_visitor(visit, monkeypatch):
    monkeypatch.setattr(decoder_form, "names", lambda: {"core": "core"})
    player_panel.prepare("another")  # the page does not open with it
    player_panel.prepare("core")

    def never(*_arguments):
        raise AssertionError("computed again")

    monkeypatch.setattr(token_by_token, "run", never)
    page = visit("decoding", **CORE)
    assert len(drawn(page, "step_player")[0]["steps"]) == 8


def test_strangers_see_what_the_owner_measured_and_cannot_measure(visit, monkeypatch, tmp_path, capsys):
    from attnviz.pages.decoding.maths import __main__, prefill_and_decode

    monkeypatch.setenv("ATTNVIZ_CACHE", str(tmp_path))
    monkeypatch.setenv("ATTNVIZ_HOSTED", "1")
    monkeypatch.setattr(prefill_and_decode, "ROUNDS", 1)
    page = visit("decoding", d_view="speed", **CORE)
    assert not [button for button in page.button if button.key == "d_measure"]
    assert "By formula at 16 bits" in said(page)
    asked = visit("decoding", d_view="speed", d_machine="here", **CORE)
    assert "The owner of this server has not measured it" in said(asked)
    __main__.main("core")
    assert "core: 9 passes measured" in capsys.readouterr().out
    measured = visit("decoding", d_view="speed", **CORE)
    assert [metric.label for metric in measured.metric][:2] == ["Peak, measured", "Bandwidth, measured"]
    assert not [button for button in measured.button if button.key == "d_measure"]


def test_the_owner_measures_by_a_button(visit, monkeypatch, tmp_path):
    from attnviz.pages.decoding.maths import prefill_and_decode

    monkeypatch.setenv("ATTNVIZ_CACHE", str(tmp_path))
    monkeypatch.setattr(prefill_and_decode, "ROUNDS", 1)
    page = visit("decoding", d_view="speed", **CORE)
    page.button(key="d_measure").click().run()
    assert not page.exception
    assert page.metric[0].label == "Peak, measured"
    assert page.button(key="d_measure").label == "Measure again"


def test_a_trained_model_writes(visit, smollm2):
    page = visit("decoding", d_model="smollm2-135m", d_steps="2")
    assert "Rome" in drawn(page, "step_player")[0]["labels"]
    assert "SmolLM2 135M Instruct &#40;4&#45;bit&#41;: trained weights." in said(page)  # as Markdown has it


@pytest.mark.parametrize("place", [0, 50, 128])
def test_a_file_has_a_bar_of_the_bytes_of_each_cache(place):
    answer = run_page(app_link(f"decoding?d_view=bytes&d_model=core&d_tokens=8192&d_grown={place}"), "d_growth_save")
    tokens = 64 * place
    assert answer.figure.title == f"{tokens:,} tokens in the cache"
    root = tree(answer.figure.fig)
    written = texts(root)
    found = {name: column[place] for name, column in answer.figure.table.items() if name != "tokens"}
    llama = {"MHA": 32, "GQA": 8, "MQA": 1}
    for name, heads in llama.items():
        assert found[f"Llama-3.1-8B {name}"] == 32 * 2 * heads * 128 * 2 * tokens
    assert {units.binary(nbytes) for nbytes in found.values()} <= set(written)
    largest = max(column[-1] for name, column in answer.figure.table.items() if name.startswith("Llama"))
    tracks = [rect for rect in root.iter(f"{SVG}rect") if rect.get("fill-opacity") == "0.07"]
    widths = [float(rect.get("width")) for rect in root.iter(f"{SVG}rect") if rect.get("fill") in SERIES]
    assert len(tracks) == len(found)
    wanted = [nbytes / largest for name, nbytes in found.items() if name.startswith("Llama")]
    if place:
        share = [width / float(tracks[0].get("width")) for width in widths[-len(wanted) :]]
        assert share == pytest.approx(wanted, abs=1e-3)
    else:
        assert not widths
