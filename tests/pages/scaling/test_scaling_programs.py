"""Every section's program, run as the page shows it: it prints the numbers that the page shows beside it."""

import pytest

from attnviz.base.rounding import format_number
from attnviz.pages.scaling.maths import saturation
from attnviz.pages.scaling.panels import retrieval_training
from tests.pages.conftest import ran, said, sound, with_code

pytestmark = pytest.mark.slow  # in `make check-all`

MINUS = str.maketrans({"−": "-"})


def shown(page):
    return (said(page) + " ".join(part.value for part in page.latex)).translate(MINUS)


def run(page):
    """What the page's program leaves behind."""
    found, printed = ran(with_code(sound(page)).code[0].value)
    return found | {"printed": printed}


@pytest.mark.parametrize(
    "link",
    [
        {"s_dk": "1000", "s_pairs": "9000", "s_seed": "3", "s_components": "uniform"},
        {"s_dk": "5", "s_pairs": "400", "s_components": "heavy-tailed"},
        {"s_dk": "9", "s_pairs": "400", "s_components": "correlated", "s_correlation": "-0.3"},
        {"s_dk": "9", "s_pairs": "400", "s_components": "shifted", "s_mean": "0.7"},
    ],
)
def test_section_1(visit, link):
    page = visit("scaling", **link)
    found, words = run(page), shown(page)
    digits = 1 if int(link["s_dk"]) >= 1000 else 3 if int(link["s_dk"]) >= 10 else 4
    raw, scaled, grown = found["spread"]["raw"], found["spread"]["scaled"], found["grown"]
    assert page.metric[0].value == f"{raw:,.{digits}f}"
    assert page.metric[1].value == f"{scaled:.4f}"
    assert f"scatter by {raw**0.5:.4g} (one" in words
    assert f"grows from {grown.raw[0]:.2g} to {grown.raw[-1]:,.0f}" in words
    over_d_k = grown.raw / grown.d_k
    assert f"between {min(over_d_k):.2f} and {max(over_d_k):.2f}" in words
    assert f"{raw:.4f}" in found["printed"]


@pytest.mark.parametrize(
    "link",
    [
        {},
        {"s_dk": "7", "s_keys": "1", "s_seed": "3"},
        {"s_dk": "64", "s_keys": "300", "s_alternative": "qk-norm", "s_qk-norm": "8"},
        {"s_dk": "3", "s_keys": "8", "s_alternative": "temperature", "s_temperature": "0"},
    ],
)
def test_section_2(visit, link):
    page = visit("scaling", s_section="saturation", s_more="true", **link)
    found, words = run(page), shown(page)
    (raw, _, raw_keys), (scaled, _, scaled_keys) = found["row"]["raw"], found["row"]["sqrt"]
    assert f"the raw row gives {raw:.1%}" in words
    assert f"as spread out as {raw_keys:,.1f} equal keys; scaled, the largest weight is {scaled:.1%}" in words
    assert f"row as spread out as {scaled_keys:,.1f} keys" in words
    middle, mean, d = found["medians"], found["means"], found["d"]
    one, two = middle["raw"], middle["sqrt"]
    assert f"At d_k = {d} the median row gives its favourite key {format_number(one['largest'], '.0%')} raw" in words
    assert f"entropy is {abs(one['entropy']):.2f} nats raw and {abs(two['entropy']):.2f} scaled" in words
    assert f"the median norm is {one['jacobian']:.3g} raw and {two['jacobian']:.3g} scaled" in words
    assert f"looks at {one['effective']:,.1f} keys in effect, a scaled one at {two['effective']:,.1f}" in words
    assert f"{format_number(one['certain'], '.0%')} of" in words
    third = link.get("s_alternative", "sqrt")
    parameter = float(link.get(f"s_{third}", 2))
    keys, seed = int(link.get("s_keys", 16)), int(link.get("s_seed", 0))
    at = saturation.GRID.index(d)
    for way in ("raw", "sqrt", third):
        bands = saturation.run(saturation.Config(keys, seed, way, parameter)).bands
        assert middle[way]["effective"] == pytest.approx(bands["effective"].middle[at], rel=2e-3), way
        assert mean[way]["to_q"] == pytest.approx(bands["to_q"].mean[at], rel=2e-3, abs=2e-6)


@pytest.mark.parametrize("link", [{}, {"s_dk": "9", "s_keys": "5", "s_seed": "2"}, {"s_dk": "100", "s_keys": "200"}])
def test_section_3(visit, link):
    page = visit("scaling", s_section="gradient", **link)
    found, words = run(page)["found"], shown(page)
    for way, title in (("raw", "Raw"), ("scaled", "Scaled")):
        norm, top, _ = found[way]
        assert f"{title}: norm {norm:.4f}." in words
        assert f"grows with its own logit, is {top:.4f}" in words
    assert f"eigenvalue is {found['raw'][2]:.2g} raw and {found['scaled'][2]:.2g} scaled" in words


@pytest.mark.parametrize(
    "link",
    [
        {"s_dk": "64", "s_optimizer": "adam", "s_rate": "0.05", "s_seed": "5"},
        {"s_dk": "8", "s_alternative": "qk-norm", "s_rate": "0.5"},
    ],
)
def test_section_4(visit, link, monkeypatch):
    monkeypatch.setattr(retrieval_training, "BETWEEN_PICTURES", 9.0)
    retrieval_training.trained.cache_clear()
    page = visit("scaling", s_section="training", s_steps="40", s_seeds="2", **link)
    found, words = run(page), shown(page)
    names = {"raw": "raw", "sqrt": "scaled", "temperature": "temperature", "qk-norm": "QK-norm, learned scale"}
    for way, run_of_it in found["runs"].items():
        loss, right, spread = (run_of_it.end(measure).mean() for measure in ("loss", "accuracy", "entropy"))
        assert f"{names.get(way, way)}: {right:.1%} right, loss {loss:.3f}, entropy {spread:.2f} nats" in words
        assert f"{way}: {right:.1%} right, loss {loss:.3f}, entropy {spread:.2f}" in found["printed"]
    assert f"{found['runs']['raw'].gradient[:, 0].mean():.2g}" in words


@pytest.mark.parametrize(
    "link",
    [
        {},
        {"s_dk": "300", "s_keys": "9", "s_alternative": "softcap", "s_softcap": "3"},
        {"s_dk": "20", "s_keys": "40", "s_seed": "5", "s_alternative": "sink", "s_sink": "2", "s_temperature": "0"},
    ],
)
def test_section_5(visit, link):
    page = visit("scaling", s_section="alternatives", **link)
    found, words = run(page), shown(page)
    chosen = link.get("s_alternative", "temperature")
    assert f"{chosen.replace('softcap', 'soft-cap')} gives {found['row'][chosen][0]:.1%} of the weight" in words
    for measure in ("largest", "entropy", "jacobian", "to_q"):
        values = sorted(abs(each[measure]) for each in found["medians"].values())
        assert f"the largest value is {values[-1]:.3g} (" in words
        smallest = f"{values[0]:.3g}"
        assert f"the smallest {smallest} (" in words or values[0] < 1e-6
    effective = found["effective"]
    assert f"as spread out as {effective['sqrt']:,.0f} keys, a length-aware one as {effective['log-n']:,.0f}" in words


@pytest.mark.parametrize(
    "link",
    [
        {"s_model": "minilm-l6", "s_layer": "2", "s_head": "5"},
        {"s_model": "minilm-l6", "s_layer": "0", "s_head": "0", "s_factor": "0.5", "s_text": "A short one"},
        {"s_model": "smollm2-135m", "s_layer": "13", "s_head": "8", "s_factor": "4"},
    ],
)
def test_section_6(visit, link):
    page = visit("scaling", s_section="head", **link)
    found, words = run(page), shown(page)
    three = found["found"]
    assert f"are {three['model'][0]:.0%} as spread out as they could be" in words
    assert f"{three['raw'][0]:.0%} without scaling, and {three['yours'][0]:.0%} at" in words
    assert f"{three['model'][1]:.2f} nats at the model's scale and {three['raw'][1]:.2f} raw" in words
    for _share, entropy, variance in three.values():
        assert f"logits have variance {variance:.3g}, entropy {entropy:.2f} nats" in words
    assert f"add up to {found['by_dimension'].sum():.4g}" in words
    assert f"{found['total']:.4g}" in words


@pytest.mark.parametrize(
    "link",
    [
        {},
        {"s_scores": "[1, 2, 3, -4.5, 700]", "s_T": "0.5", "s_block": "3"},
        {"s_scores": "3, 3, 1", "s_T": "0"},
        {"s_scores": "90000, 1", "s_T": "100"},
    ],
)
def test_section_7(visit, link):
    page = visit("scaling", s_section="softmax", **link)
    found, words = run(page), shown(page)
    if link.get("s_T") != "0":
        assert f"gets {found['p'].max():.6f}; entropy {abs(found['entropy']):.4f}" in words
    near, far, moved = (found[name] for name in ("near", "far", "moved"))
    assert f"({near:.2f} from the centre)" in words
    assert f"land {format_number(far, '.3g')} away" in words
    assert f"raw mix by {moved:.2f}" in words
    first, second = found["output"].tolist()
    assert f"({first:.5f},\\ {second:.5f})" in words
    float16 = found["each"].first_broken
    assert float16 is None or f"+{float16:g}" in words


def test_a_section_without_numbers_to_print_has_no_program(visit):
    scores = ", ".join(map(str, range(500)))
    assert not with_code(visit("scaling", s_section="softmax", s_scores=scores)).code
