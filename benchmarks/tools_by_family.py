"""Run the tools of the library on every causal-LM family of transformers: each answers, or refuses in a sentence.

    nice python -m benchmarks.tools_by_family              # all families, about ten minutes on one core
    nice python -m benchmarks.tools_by_family qwen3_moe    # only these, with the sentences of what is refused

Each family is built from a tiny random config. Where another hand can tell a number, the answer is compared with it.
The exit code is 1 if a number is wrong or an error is of another kind.
"""

import signal
import sys
import warnings
from collections import Counter
from collections.abc import Callable
from typing import Any

import torch
import transformers
from torch import Tensor, nn
from transformers.models.auto.modeling_auto import MODEL_FOR_CAUSAL_LM_MAPPING_NAMES

import attnviz as av
from scripts.families import TooSlow, raise_too_slow
from tests.models.capture.family_check import build
from tests.models.capture.tiny_config import changed, tiny

SECONDS = 120  #: time limit for one family
METRIC = av.logit_diff(7, 11)
KINDS = ("done", "refused", "slow", "wrong", "raw")
CLOSE = 1e-3  #: of the largest number


def _logits(model: nn.Module, ids: Tensor) -> Tensor:
    """The model's own logits (B, V) at the last position."""
    with torch.no_grad():
        answered = model(ids)
    logits: Tensor = getattr(answered, "logits", answered)
    return logits[:, -1].float()


def _off(ours: Tensor | None, theirs: Tensor) -> float:
    """The largest difference, as a share of the largest number of the other hand."""
    assert ours is not None
    return float((ours.float() - theirs.float()).abs().max() / (1e-6 + theirs.abs().max()))


def capture(model: nn.Module, one: Tensor, _: Tensor) -> float:
    weights = av.capture(model, one)[0].weights()
    return _off(weights.sum(-1).clamp(max=1), weights.sum(-1))


def intervene(model: nn.Module, one: Tensor, _: Tensor) -> float:
    """Heads that are computed again, with their scores times 1, change nothing."""
    av.intervene(model, av.ablate(0, 0), one)
    return _off(av.intervene(model, av.rescale(factor=1.0), one).logits, _logits(model, one))


def knockout(model: nn.Module, one: Tensor, _: Tensor) -> float:
    return float(av.intervene(model, av.knockout(0, queries=-1, keys=0), one)[0].weights()[..., -1, 0].abs().max())


def steer(model: nn.Module, one: Tensor, _: Tensor) -> None:
    stream = av.capture(model, one, residual=True).residual
    assert stream is not None
    av.intervene(model, av.steer(1, torch.linspace(-1, 1, stream[0].shape[-1])), one)


def logit_attribution(model: nn.Module, one: Tensor, _: Tensor) -> float:
    """The parts add up to the difference of the model's own logits; a soft-cap comes after them."""
    found = av.capture(model, one, residual=True).logit_attribution(METRIC)
    logits = _logits(model, one)
    logit = found.logit if found.softcap is not None else logits[:, 7] - logits[:, 11]
    return float((found.total - logit).abs().max() / logits.abs().max())


def logit_lens(model: nn.Module, one: Tensor, _: Tensor) -> float:
    lens = av.capture(model, one, residual=True).logit_lens()
    return _off(lens.top_probabilities[:, -1], _logits(model, one).softmax(-1).topk(5).values)


def score_attribution(model: nn.Module, one: Tensor, _: Tensor) -> float:
    """The parts and the rivals' entropy add up to the log-odds of the weight."""
    trace = av.capture(model, one, residual=True)
    weights = trace[-1].weights(0)[0, 0, 6].double()
    key = int((weights - 0.5).abs().argmin())
    why = trace.score_attribution(-1, 0, 6, key)
    weight = float(weights[key])
    log_odds = torch.tensor(weight).logit() if 1e-4 < weight < 1 - 1e-4 else why.log_odds
    largest = 0.1 + why.score.abs() + why.baseline.abs() + why.entropy
    parts = why.table.sum((1, 2)) + why.position + why.sink + why.capped - why.entropy
    return float(((parts - log_odds).abs() / largest).max())


def path_patching(model: nn.Module, one: Tensor, two: Tensor) -> float:
    """A head of the last layer has no way to the logits but the direct one."""
    last = av.Site(len(av.capture(model, one)) - 1, 0)
    direct = dict(av.path_patching(model, one, two, METRIC, [last]))[last]
    whole = dict(av.activation_patching(model, two, one, METRIC, [last]))[last]
    return abs(direct - whole) / float(_logits(model, one).abs().max())


def find_circuit(model: nn.Module, one: Tensor, two: Tensor) -> float:
    av.find_circuit(model, one, two, METRIC, sizes=[2])
    ablation = av.Ablation(model, one, [two], METRIC)
    return max(abs(ablation.kept(ablation.members) - 1), abs(ablation.kept([])))


def generate(model: nn.Module, one: Tensor, _: Tensor) -> float:
    given: dict[str, Any] = {"max_new_tokens": 2, "do_sample": False, "pad_token_id": 0}
    write: Any = model.generate
    return float(not torch.equal(av.capture(write, one, **given).inputs["sequences"], write(one, **given)))


#: each tool; where it answers a number, that is how far off another hand it is
TOOLS: dict[str, Callable[[nn.Module, Tensor, Tensor], object]] = {
    "capture": capture,
    "find_heads": lambda model, one, _: av.find_heads(model, one),
    "intervene": intervene,
    "knockout": knockout,
    "steer": steer,
    "generate": generate,
    "logit_attribution": logit_attribution,
    "logit_lens": logit_lens,
    "score_attribution": score_attribution,
    "attribution_patching": lambda model, one, two: av.attribution_patching(model, one, two, METRIC),
    "activation_patching": lambda model, one, two: list(av.activation_patching(model, one, two, METRIC, [(0, 0)])),
    "path_patching": path_patching,
    "find_circuit": find_circuit,
    "head_circuits": lambda model, *_: av.head_circuits(model, 0, 0, tokens=range(20)).matches(),
    "composition_scores": lambda model, *_: av.composition_scores(model),
}


def run_family(name: str) -> dict[str, str]:
    """Outcome of each tool: "done", or one of KINDS and more; {"build": …} where the family cannot be built."""
    signal.alarm(SECONDS)
    try:
        generator = torch.Generator().manual_seed(1)
        one, two = (torch.randint(5, 100, (1, 7), generator=generator) for _ in range(2))
        model = build_family(name, one)
    except (Exception, TooSlow) as error:
        return {"build": f"{type(error).__name__}: {error}"}
    finally:
        signal.alarm(0)
    outcomes = {}
    for tool, call in TOOLS.items():
        signal.alarm(SECONDS)
        try:
            off = call(model, one, two)
            outcomes[tool] = "done" if not isinstance(off, float) or off < CLOSE else f"wrong: off by {off:.1e}"
        except av.Problem as problem:
            outcomes[tool] = f"refused: {problem}"
        except TooSlow:
            outcomes[tool] = f"slow: more than {SECONDS} s"
        except Exception as error:
            outcomes[tool] = f"raw: {type(error).__name__}: {error}"
        finally:
            signal.alarm(0)
    return outcomes


def build_family(name: str, ids: Tensor) -> nn.Module:
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
        raw[name] = kinds["raw"] + kinds["wrong"]
        print(f"{name:32}", ", ".join(f"{kinds[kind]:2} {kind}" for kind in KINDS), flush=True)
        for tool, outcome in outcomes.items():
            if outcome.startswith(("raw", "wrong")) or (names and outcome != "done"):
                print(f"    {tool}: {outcome[:400]}", flush=True)
    failing = [name for name, count in raw.items() if count]
    print(f"{built} families built, {complete} do all {len(TOOLS)} tools")
    print(f"{len(failing)} are wrong or end in a raw error: {failing}")
    return bool(failing)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
