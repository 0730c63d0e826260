"""Survey the heads of the packaged models and write what the page shows first: `python -m scripts.prepare_heads`.

    python -m scripts.prepare_heads --cost-sentences 16 --keep /tmp/costs      # goes on where it was stopped

Patterns take a minute. The costs of SmolLM2's 270 heads, silenced and replaced by their mean, take about two minutes of
one core for each sentence of 64 tokens.
"""

import argparse
import time
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import torch
import transformers

from attnviz.models.catalogue import LoadedModel
from attnviz.models.loading import load
from attnviz.pages.heads.maths import head_survey
from attnviz.pages.heads.maths.sentence_sets import TextKind
from attnviz.runs.heads.head_scores import mean_outputs
from attnviz.runs.heads.removal_costs import head_costs
from attnviz.runs.prepared_files import packaged_weights

MODELS = ("smollm2-135m", "minilm-l6")
TEXTS: tuple[TextKind, ...] = ("books", "repeated")
FOLDER = Path(__file__).parents[1] / "attnviz/pages/heads/maths/data"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cost-sentences", type=int, default=head_survey.SENTENCES)
    parser.add_argument("--keep", type=Path, help="a folder for costs that are done, of a run that may be stopped")
    parser.add_argument("--models", nargs="+", default=MODELS)
    parser.add_argument("--texts", nargs="+", default=TEXTS)
    given = parser.parse_args()
    torch.set_num_threads(1)  # sums in another order would differ in the last bits
    for model in given.models:
        loaded = load(model)
        for text in given.texts:
            config = head_survey.Config(text)
            survey = surveyed(loaded, config, given.cost_sentences, given.keep)
            data = head_survey.packed(survey, about(model, config))
            (FOLDER / head_survey.file_of(model, text)).write_bytes(data)
            print(f"{model}, {text}: {', '.join(survey.measures)}, {len(data) // 1024} KiB")


def surveyed(loaded: LoadedModel, config: head_survey.Config, costs: int, keep: Path | None) -> head_survey.Survey:
    """Patterns on all sentences; costs, where the model predicts the next token, on the first `costs` of them."""
    *_, last = head_survey.patterns(loaded, config)
    found = last.survey()
    assert found is not None
    if loaded.entry.kind != "decoder" or costs == 0:
        return found
    sentences = list(last.sentences)
    means = mean_outputs(loaded, sentences)
    file = None if keep is None else keep / f"{loaded.entry.id}-{config.text}.npz"
    for scores in head_costs(loaded, sentences[:costs], means, keep=file):
        print(f"  {time.strftime('%H:%M:%S')} costs of {scores.sentences} sentences", flush=True)
        measured = scores
    whole = head_survey.SurveySoFar(measured, last.sentences, 1.0).survey()
    assert whole is not None
    return replace(found, measures={**found.measures, **whole.measures})


def about(model: str, config: head_survey.Config) -> dict[str, object]:
    """What a reader must know to make it again."""
    return {
        "model": model,
        "weights": packaged_weights(model),
        "seed": config.seed,
        "length": config.length,
        "made": datetime.now(UTC).date().isoformat(),
        "torch": torch.__version__.split("+")[0],
        "transformers": transformers.__version__,
    }


if __name__ == "__main__":
    main()
