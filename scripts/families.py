"""Try capture on every family of the installed transformers and write docs/library/families.md.

    python -m scripts.families            # all families, about ten minutes on one core
    python -m scripts.families llama t5   # only these, printed and not written

Each family is built from a tiny random config and run under `capture` on its default path. The result is
compared with what the model itself reports on its eager path with `output_attentions=True`, in float32.
"""

import signal
import sys
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path

import transformers
from transformers.models.auto.modeling_auto import MODEL_MAPPING_NAMES

from tests.models.capture.family_check import Verdict, check
from tests.models.capture.family_inputs import inputs_for
from tests.models.capture.tiny_config import changed, classes, tiny

PAGE = Path(__file__).parent.parent / "docs" / "library" / "families.md"
SECONDS = 15  #: time limit for one family
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
    "cpmant": "it reports its weights without the prompt that it puts before the text; ours are of all positions",
    "squeezebert": "its eager path reports scores before the softmax as if they were weights",
    "wavlm": "its eager path reports the mean over heads as the weights of each",
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


class TooSlow(BaseException):
    """A family exceeded its time limit. Not an Exception, so that no `except Exception` catches it on the way."""


def main(names: list[str]) -> None:
    warnings.filterwarnings("ignore")
    transformers.logging.set_verbosity_error()
    signal.signal(signal.SIGALRM, raise_too_slow)
    verdicts = {}
    for name in names or MODEL_MAPPING_NAMES:
        verdicts[name] = verdict = judge(name)
        print(f"{name:40} {summary(verdict)}", flush=True)
    if not names:
        PAGE.write_text(page(verdicts), encoding="utf-8")


def judge(name: str) -> Verdict:
    """The verdict on one family: capture against its eager path, or why the family could not be tried."""
    signal.alarm(SECONDS)
    first = ""
    try:
        for layers in (2, 4, 8):  # in hybrids only every fourth or eighth layer has attention
            for verdict in _attempts(name, layers):
                if not verdict.failure:
                    return verdict
                first = first or verdict.failure
    except TooSlow:
        return Verdict(failure=first or "takes too long on a tiny config")
    except Exception as error:
        return Verdict(failure=first or _short(error))
    finally:
        signal.alarm(0)
    return Verdict(failure=first)


def _attempts(name: str, layers: int) -> Iterator[Verdict]:
    model_class, config_class = classes(name)
    changes = changed(name, config_class)
    for inputs in inputs_for(tiny(config_class, layers, **changes), model_class):
        try:
            yield check(model_class, tiny(config_class, layers, **changes), inputs)
        except Exception as error:
            yield Verdict(failure=_short(error))


def _short(error: Exception) -> str:
    text = " ".join(str(error).split()).replace("|", "/") or type(error).__name__
    return text if len(text) <= 110 else text[:107] + "..."


def raise_too_slow(*_: object) -> None:
    raise TooSlow


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
    """The whole text of docs/library/families.md."""
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


if __name__ == "__main__":
    main(sys.argv[1:])
