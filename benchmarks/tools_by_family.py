"""Run eleven tools of the library on every causal-LM family of transformers: each answers, or refuses in a sentence.

    nice python -m benchmarks.tools_by_family              # all families, about ten minutes on one core
    nice python -m benchmarks.tools_by_family qwen3_moe    # only these, with the sentences of what is refused

Each family is built from a tiny random config. The exit code is 1 if any tool ends in an error of another kind.
"""

import signal
import sys
import warnings
from collections import Counter
from collections.abc import Callable

import torch
import transformers
from torch import Tensor
from transformers.models.auto.modeling_auto import MODEL_FOR_CAUSAL_LM_MAPPING_NAMES

import attnviz as av
from scripts.families import TooSlow, raise_too_slow
from tests.models.capture.family_check import build
from tests.models.capture.tiny_config import changed, tiny

SECONDS = 120  #: time limit for one family
METRIC = av.logit_diff(7, 11)
KINDS = ("done", "refused", "slow", "raw")
TOOLS: dict[str, Callable[[torch.nn.Module, Tensor, Tensor], object]] = {
    "capture": lambda model, one, _: av.capture(model, one)[0].weights(),
    "intervene": lambda model, one, _: av.intervene(model, av.ablate(0, 0), one),
    "logit_attribution": lambda model, one, _: av.capture(model, one, residual=True).logit_attribution(METRIC),
    "logit_lens": lambda model, one, _: av.capture(model, one, residual=True).logit_lens(),
    "score_attribution": lambda model, one, _: av.capture(model, one, residual=True).score_attribution(-1, 0, 6, 5),
    "attribution_patching": lambda model, one, two: av.attribution_patching(model, one, two, METRIC),
    "activation_patching": lambda model, one, two: list(av.activation_patching(model, one, two, METRIC, [(0, 0)])),
    "path_patching": lambda model, one, two: list(av.path_patching(model, one, two, METRIC, [(0, 0)])),
    "find_circuit": lambda model, one, two: av.find_circuit(model, one, two, METRIC, sizes=[2]),
    "head_circuits": lambda model, *_: av.head_circuits(model, 0, 0, tokens=range(20)).matches(),
    "composition_scores": lambda model, *_: av.composition_scores(model),
}


def run_family(name: str) -> dict[str, str]:
    """Outcome of each tool: "done", "refused: …", "slow: …" or "raw: …"; {"build": …} where it cannot be built."""
    signal.alarm(SECONDS)
    try:
        generator = torch.Generator().manual_seed(1)
        one, two = (torch.randint(5, 100, (1, 7), generator=generator) for _ in range(2))
        model = _build_family(name, one)
    except (Exception, TooSlow) as error:
        return {"build": f"{type(error).__name__}: {error}"}
    finally:
        signal.alarm(0)
    outcomes = {}
    for tool, call in TOOLS.items():
        signal.alarm(SECONDS)
        try:
            call(model, one, two)
            outcomes[tool] = "done"
        except av.Problem as problem:
            outcomes[tool] = f"refused: {problem}"
        except TooSlow:
            outcomes[tool] = f"slow: more than {SECONDS} s"
        except Exception as error:
            outcomes[tool] = f"raw: {type(error).__name__}: {error}"
        finally:
            signal.alarm(0)
    return outcomes


def _build_family(name: str, ids: Tensor) -> torch.nn.Module:
    """The family's causal LM, with the fewest layers with which it runs: a hybrid needs one with attention."""
    model_class = getattr(transformers, MODEL_FOR_CAUSAL_LM_MAPPING_NAMES[name])
    config_class = model_class.config_class
    first: Exception | None = None
    for layers in (2, 4, 8):
        try:
            model = build(model_class, tiny(config_class, layers, **changed(name, config_class)))
            with torch.no_grad():
                model(input_ids=ids)
            return model
        except Exception as error:
            first = first or error
    assert first is not None
    raise first


def main(names: list[str]) -> int:
    warnings.filterwarnings("ignore")
    transformers.logging.set_verbosity_error()
    signal.signal(signal.SIGALRM, raise_too_slow)
    built, complete, raw = 0, 0, Counter[str]()
    for name in names or MODEL_FOR_CAUSAL_LM_MAPPING_NAMES:
        outcomes = run_family(name)
        if "build" in outcomes:
            print(f"{name:32} not built: {outcomes['build'][:100]!r}", flush=True)
            continue
        kinds = Counter(outcome.partition(":")[0] for outcome in outcomes.values())
        built, complete = built + 1, complete + (kinds["done"] == len(TOOLS))
        raw[name] = kinds["raw"]
        print(f"{name:32}", ", ".join(f"{kinds[kind]:2} {kind}" for kind in KINDS), flush=True)
        for tool, outcome in outcomes.items():
            if outcome.startswith("raw") or (names and outcome != "done"):
                print(f"    {tool}: {outcome[:400]}", flush=True)
    failing = [name for name, count in raw.items() if count]
    print(f"{built} families built, {complete} do all {len(TOOLS)} tools, {len(failing)} end in a raw error: {failing}")
    return bool(failing)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
