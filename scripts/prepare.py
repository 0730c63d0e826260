"""Compute what the app ships ready-made, and write it into the pages' `data` folders: `python -m scripts.prepare NAME`.

NAME is one of
    policies   the cache policies of Decoding's example
    heads      what the page about heads knows of the packaged models. Patterns take a minute; costs of SmolLM2's 270
               heads two minutes of a core for each sentence of 64 tokens
The training runs of How a head is born are made by `python -m attnviz.pages.born --ship`.
Everything runs in one thread: sums in another order would differ in their last bits.
"""

import argparse
import os
import time
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("KINETO_LOG_LEVEL", "5")

import torch
import transformers

from attnviz.analysis.heads.removal_costs import head_costs, mean_outputs
from attnviz.analysis.prepared_files import packaged_weights
from attnviz.models.catalogue import LoadedModel
from attnviz.models.loading import load
from attnviz.pages.decoding import choices
from attnviz.pages.decoding.maths import decoders, kept_positions
from attnviz.pages.heads.maths import head_survey

PAGES = Path(__file__).parents[1] / "attnviz" / "pages"
DECODER, ENCODER = "smollm2-135m", "minilm-l6"
COST_SENTENCES = 9  #: how many sentences the costs of heads in what is shipped are of


def policies() -> None:
    *_partial, whole = kept_positions.run(
        decoders.ModelDecoder(load(DECODER)), kept_positions.Config(choices.TEXT_EXAMPLE)
    )
    write("decoding", kept_positions.FILE, kept_positions.pack_result(DECODER, whole))


def heads() -> None:
    for model in (DECODER, ENCODER):
        loaded = load(model)
        for text in ("books", "repeated"):
            config = head_survey.Config(text)
            about = {
                "model": model,
                "weights": packaged_weights(model),
                "seed": config.seed,
                "length": config.length,
                "made": datetime.now(UTC).date().isoformat(),
                "torch": torch.__version__.split("+")[0],
                "transformers": transformers.__version__,
            }
            survey = surveyed(loaded, config)
            write("heads", head_survey.scan_file(model, text), head_survey.pack_scan(survey, about))


def surveyed(loaded: LoadedModel, config: head_survey.Config) -> head_survey.HeadScan:
    """Patterns on all sentences; costs, where the model predicts the next token, on the first of them."""
    *_, last = head_survey.scan_patterns(loaded, config)
    survey = last.summarise()
    assert survey is not None
    if loaded.entry.kind != "decoder":
        return survey
    sentences = list(last.sentences)
    for scores in head_costs(loaded, sentences[:COST_SENTENCES], mean_outputs(loaded, sentences)):
        print(f"  {time.strftime('%H:%M:%S')} costs of {scores.sentences} sentences", flush=True)
        measured = scores
    costs = head_survey.HeadScanProgress(measured, last.sentences, 1.0).summarise()
    assert costs is not None
    return replace(survey, measures={**survey.measures, **costs.measures})


def write(page: str, name: str, data: bytes) -> None:
    file = PAGES / page / "maths" / "data" / name
    file.write_bytes(data)
    print(f"{name}: {len(data) // 1024} KiB", flush=True)


def main() -> None:
    tasks = {task.__name__: task for task in (policies, heads)}
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("name", choices=tasks)
    torch.set_num_threads(1)
    tasks[parser.parse_args().name]()


if __name__ == "__main__":
    main()
