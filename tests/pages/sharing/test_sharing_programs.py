"""Every view's program, run in the state that it is shown in: it prints the numbers that the view shows."""

import json
import re

import pytest

from attnviz.base import units
from tests.pages.conftest import ran, sound, table_of, with_code
from tests.pages.sharing.test_page import metrics, spoken

pytestmark = pytest.mark.slow  # in `make check-all`

CONFIG = json.dumps({"model_type": "qwen3", "num_hidden_layers": 6, "hidden_size": 512, "vocab_size": 999})
OWN = {"h_from": "own", "h_n_layers": "2", "h_d_model": "512", "h_n_heads": "8", "h_n_kv_heads": "2", "h_d_head": "64"}
LATENT = OWN | {"h_scheme": "latent", "h_kv_rank": "128", "h_d_rope": "32"}


def program(app):
    """What the one program on the page prints."""
    assert len(with_code(app).code) == 1
    return ran(with_code(app).code[0].value)[1]


def number(said, name):
    """The first number after `name`."""
    return float(re.search(re.escape(name) + r"\D*?(-?[\d.]+(?:e-?\d+)?)", said)[1])


SMOL = {"h_text": "A short sentence was too tired."}
MINILM = SMOL | {"h_lm": "minilm-l6"}


@pytest.mark.parametrize(
    "link",
    [
        SMOL,
        SMOL | {"h_kept": "9", "h_scope": "all"},
        SMOL | {"h_layer": "12", "h_by": "random", "h_scope": "all"},
        MINILM | {"h_kept": "4", "h_by": "first", "h_layer": "2"},
        MINILM | {"h_kept": "1", "h_scope": "all"},
    ],
)
def test_see_it(visit, link):
    app = sound(visit("sharing", h_heads="true", **link))
    said, words = program(app), spoken(app)
    moved = json.loads(said.splitlines()[0])
    group = moved[: len(moved) // int(link.get("h_kept", 1))]  # those that share the first K/V head
    first = max(range(len(group)), key=group.__getitem__)
    one = len(group) == 1
    changed = f"{group[0]:.0%} of head 0" if one else f"head {first} changes most: {group[first]:.0%} of its"
    assert (changed if max(group) >= 0.005 else "No attention here changes by as much as half a percent.") in words
    elsewhere = f"{max(moved):.0%} of its attention goes elsewhere, mean over all rows"
    assert (elsewhere if max(moved) >= 0.005 else "No head’s attention changes by as much as half a percent.") in words
    assert units.both(int(number(said, "K/V bytes at 16 bits:"))) in words
    assert f"changes by {number(said, 'change of the layer'):.0%}" in words
    if "h_lm" in link:
        last = number(said, "change of the last layer's output:")
        assert f"its last layer changes by **{last:.0%}**" in words
        return
    trained, shared = re.findall(r"likeliest next token, \w+: .* ([\d.]+)\n", said)
    found = re.search(r"with ([\d.]+)%; with shared heads it is .*?, with ([\d.]+)%", words)
    assert [float(each) for each in found.groups()] == pytest.approx(
        [100 * float(trained), 100 * float(shared)], abs=0.06
    )
    assert f"{number(said, 'in nats:'):.3g} nats" in words


@pytest.mark.parametrize(
    "link",
    [
        {"h_model": "gemma-3-27b"},
        {"h_model": "qwen3-next-80b-a3b", "h_context": "5000", "h_batch": "3"},
        {"h_model": "whisper-tiny", "h_context": "400"},
        {"h_model": "t5-small", "h_axis": "heads"},
        {"h_model": "bert-base"},
        {"h_model": "deepseek-v2"},
        {"h_model": "gpt-neo-1.3b"},
        {"h_from": "config", "h_config": CONFIG},
        OWN,
        LATENT,
    ],
)
def test_count_it(visit, link):
    app = sound(visit("sharing", h_view="count", **link))
    said, shown = program(app), metrics(app)
    assert units.many(int(number(said, "attention parameters:"))) == shown["Attention parameters"]
    for name, title in (
        ("ideal", "Ideal cache"),
        ("transformers", "transformers holds"),
        ("paged", "A paged server allocates"),
    ):
        held = int(number(said, f"{name} cache bytes:"))
        assert units.binary(held) == shown[title]
        assert units.exact(held) in spoken(app)


@pytest.mark.parametrize(
    "link",
    [
        {"h_model": "llama-3.1-8b"},
        {"h_model": "gemma-3-27b", "h_cache": "int4", "h_weights": "q4_0", "h_as": "paged", "h_hybrid": "false"},
        {"h_model": "gpt-oss-120b", "h_batch": "64", "h_context": "131072", "h_as": "transformers", "h_gpu": "h100"},
        {"h_model": "whisper-tiny", "h_gpu": "typed", "h_gib": "2", "h_gbs": "100", "h_tflops": "3"},
        {"h_model": "llama-3.1-405b"},
        {"h_model": "deepseek-v2"},
        {"h_model": "qwen3-next-80b-a3b"},
        {"h_model": "gpt-neo-1.3b"},
        {"h_from": "config", "h_config": CONFIG, "h_scale": "32", "h_weights": "int4"},
        LATENT | {"h_batch": "7"},
    ],
)
def test_size_it(visit, link):
    app = visit("sharing", h_view="size", **link)
    said, words, shown = program(app), spoken(app), metrics(app)
    convention = link.get("h_as", "ideal")
    weights, held = int(number(said, "weights:")), int(number(said, f"{convention} cache:"))
    assert f"Weights {units.both(weights)}, cache {units.both(held)}" in words
    rows = re.findall(r"cache: (\d+), longest context: (\d+), largest batch: (\d+)", said)
    for row in rows:
        cells = [units.both(int(row[0])), *("no limit" if int(n) >= 1 << 30 else f"{int(n):,}" for n in row[1:])]
        assert " | " + " | ".join(cells) + " |" in words
    compute, reading = map(float, re.search(r"compute and to read: (\S+) (\S+)", said).groups())
    each, everyone = map(float, re.search(r"of each and of all: (\S+) (\S+)", said).groups())
    fits = "all of it fits" in said
    assert shown["One decoding step"] == (units.duration(max(compute, reading)) if fits else "–")
    assert (f"{each:,.1f} tokens a second for each sequence, {everyone:,.0f} in all" in words) == fits
    limit = re.search(r"no batch helps from: (\w+)", said)[1]
    assert shown["Context where no batch helps"] == ("none" if limit == "None" else f"{int(limit):,} tokens")


@pytest.mark.parametrize(
    "link", [{}, {"h_weights": "int8"}, {"h_gpu": "typed", "h_gib": "1"}], ids=["as it opens", "8 bits", "small"]
)
def test_size_an_encoder(visit, link):
    app = sound(visit("sharing", h_view="size", h_model="bert-base", **link))
    said = program(app)
    assert f"Weights {units.both(int(number(said, 'weights:')))}, cache 0 B, " in spoken(app)
    assert f"{units.binary(int(number(said, 'left:')))} left" in spoken(app)


@pytest.mark.parametrize(
    "link",
    [
        {"h_model": "smollm2-135m", "h_tokens": "64"},
        {"h_model": "t5-small", "h_tokens": "33", "h_batch": "2"},
        {"h_model": "bert-base", "h_tokens": "16"},
        {"h_from": "config", "h_config": CONFIG, "h_tokens": "40"},
    ],
)
def test_prove_it(visit, link):
    app = sound(visit("sharing", h_view="prove", **link))
    assert len(with_code(app).code) == 0, "nothing is proved yet"
    app = sound(next(button for button in app.button if "without memory" in button.label).click().run())
    said, table = program(app), table_of(app)
    shown = {cell for column in ("by formula", "measured") for cell in table[column]}
    numbers = re.findall(r": (\d+) (\d+)\n", said)
    assert len(numbers) == len(table)
    assert {f"{int(each):,}" for pair in numbers for each in pair} == shown


@pytest.mark.parametrize(
    "link", [{}, {"h_context": "4096", "h_mla": "deepseek-v2"}, {"h_context": "1"}, {"h_context": "100000"}]
)
def test_latents(visit, link):
    app = sound(visit("sharing", h_view="latent", **link))
    said, words = program(app), spoken(app)
    decode, prefill = number(said, "at every step:"), number(said, "expanded prefill:")
    if round(decode, 2) == round(prefill, 2) == 1:
        assert "all forms cost the same" in words
    else:
        assert f"costs **{decode:,.0f} times** the absorbed form" in words
        assert f"costs **{prefill:.2f} times** the absorbed one" in words
    assert units.both(int(number(said, "cache bytes:"))) in words
    forms, against = table_of(app), table_of(app, 1)
    for row, (numbers, intensity, prefill, one) in zip(
        forms.itertuples(index=False),
        re.findall(r": (\d+) numbers a token, FLOP a byte ([\d.]+)\n\s+prefill (\d+), one token (\d+)", said),
        strict=True,
    ):
        assert row[1:] == (f"{int(numbers):,}", f"{float(intensity):,}", units.flop(int(prefill)), units.flop(int(one)))
    for row, (numbers, kept, times) in zip(
        against.itertuples(index=False),
        re.findall(r"against (\d+) numbers: MLA keeps ([\d.]+%), ([\d.]+) times", said),
        strict=True,
    ):
        assert (row[1], row[3], row[4]) == (f"{int(numbers):,}", kept, f"{float(times):,}")


def test_what_others_print(visit):
    """This view has one state: nothing can be chosen on it."""
    app = sound(visit("sharing", h_view="published"))
    said = program(app).splitlines()
    table = table_of(app)
    assert len(said) == len(table)
    verdicts = {"reproduced": "yes", "wrong": "no", "only under a condition": "condition"}
    for line, row in zip(said, table.itertuples(index=False), strict=True):
        verdict, claim, found = row[:3]
        assert line.startswith(f"{claim}: ")
        number = re.search(r": ([\d.,]+) \S+, (\w+)$", line)
        # a program rounds halves to even
        assert float(number[1].replace(",", "")) == pytest.approx(
            float(re.match(r"[\d.,]+", found)[0].replace(",", "")), abs=1.1e-3
        )
        assert verdicts[verdict] == number[2]
