"""The text and tables of docs/families.md."""

from collections import defaultdict
from collections.abc import Callable

import transformers

from tests.models.capture.family_check import Verdict

#: families in which a difference from the eager path is expected, and why
_SINK = "its eager path reports weights without the sink that it applies afterwards; ours have it in"
_NOISE = "its eager path gives NaN on this script's noise, and there is nothing to compare with"
KNOWN = {
    "granite_swa": _SINK,
    "granitemoe_swa": _SINK,
    "minimax": "linear-attention layers report a decay matrix; only softmax layers are recorded, and exact",
    "bigbird_pegasus": "the encoder's block-sparse layers have code of their own and are not met; the rest is exact",
    "nemotron3_5_asr": _NOISE,
    "nemotron_asr_streaming": _NOISE,
    "nemotron_asr_streaming_encoder": _NOISE,
    "switch_transformers": "1.0e-5 by rounding: position bias makes its scores large, and nothing scales them",
    "t5gemma2": "its decoder attends to target and source at once; it reports the two parts, ours is the whole",
}

INTRODUCTION = """Written by `python -m scripts.families`: do not edit. Every family with a base model is built from a
tiny random config and captured on its default path; the weights are compared with those of its own eager path."""

EXACT = """Every attention matrix that the eager path reports is recomputed from the recorded Q and K to 1e-5 (rows
with no allowed key excepted). Another mask, another scale and interventions work."""

WEIGHTS = """They compute attention in code of their own, or in a way that capture cannot take into account. Weights are
shown as the model reports them; another mask, another scale and interventions are refused with an explanation."""

UNTRIED = """The script could not build or feed these from a tiny config: they need more than tokens or one picture, or
a package that is not installed. That says nothing about capture: most are assembled from parts listed above."""


GROUPS = ("exact", "alone", "weights", "odd", "without", "untried")


def summary(verdict: Verdict) -> str:
    """The result for one family in a few words."""
    if verdict.failure:
        return verdict.failure
    if verdict.reported and not verdict.exact:
        return f"weights only ({verdict.reported} layers)"
    compared = (
        f"{verdict.compared} compared, off by at most {verdict.error:.0e}" if verdict.compared else "none reported"
    )
    trouble = "".join(f"; {text}" for text in verdict.strange[:1])
    missing = f"; {verdict.missing} reported but not met" if verdict.missing else ""
    return f"{verdict.exact} layers, {compared}{missing}{trouble}"


def page(verdicts: dict[str, Verdict]) -> str:
    """The whole text of docs/families.md."""
    held: dict[str, dict[str, Verdict]] = defaultdict(dict)
    for name, verdict in sorted(verdicts.items()):
        held[_group(verdict)][name] = verdict
    exact, alone, weights, odd, without, untried = (held[key] for key in GROUPS)
    features = _table(exact, "what is special about it", lambda verdict: ", ".join(sorted(verdict.features)))
    parts = [
        f"# Which families of transformers {transformers.__version__} can be captured, and how well\n\n{INTRODUCTION}",
        f"## Exact: {len(exact)} families\n\n{EXACT}\n\n{features}",
        f"## Recorded, but the eager path reports nothing to compare with: {len(alone)}\n\n{_names(alone)}",
        f"## Weights only (`exact=False`): {len(weights)} families\n\n{WEIGHTS}\n\n{_names(weights)}",
        f"## Differences: {len(odd)}\n\n{_table(odd, 'what differs', summary)}",
        f"## No attention layers that can be read: {len(without)}\n\n{_names(without)}",
        f"## Not tried: {len(untried)}\n\n{UNTRIED}\n\n{_table(untried, 'why', summary)}",
    ]
    return "\n\n".join(parts) + "\n"


def _group(verdict: Verdict) -> str:
    if verdict.failure:
        return "without" if "no attention layers" in verdict.failure else "untried"
    if verdict.reported and not verdict.strange:
        return "weights"
    if verdict.good:
        return "exact" if verdict.compared else "alone"
    return "odd"


def _names(verdicts: dict[str, Verdict]) -> str:
    return ", ".join(f"`{name}`" for name in verdicts) or "None."


def _table(verdicts: dict[str, Verdict], heading: str, cell: Callable[[Verdict], str]) -> str:
    rows = [f"| `{name}` | {KNOWN.get(name) or cell(verdict)} |" for name, verdict in verdicts.items()]
    return "\n".join([f"| family | {heading} |", "|---|---|", *rows])
