"""Why a head looks at a key: its score by parts, the path of the largest one, and the weight with a part cut."""

from dataclasses import dataclass

import numpy as np

from attnviz.analysis.model_run import ModelRun, StackId
from attnviz.base.message import Message
from attnviz.models.capture import Cut, ScoreAttribution, capture
from attnviz.models.catalogue import LoadedModel

MOST_PARTS = 5  #: of the query and of the key that are named; all others are one part

Cell = tuple[StackId, int, int, int, int]  #: stack, layer, head, query and key


@dataclass(frozen=True)
class CellExample:
    """A sentence, and a cell of one of its heads, as positions of tokens."""

    model: str
    text: str
    head: tuple[int, int]
    query: tuple[int, str]
    key: tuple[int, str]
    shows: Message


EXAMPLES = (
    CellExample(
        "smollm2-135m",
        " river stone green cable plant river stone green cable plant",
        (18, 6),
        (6, "stone"),
        (2, "green"),
        Message("Repeated words: an earlier head marked what came after “stone”, and this one looks for that mark."),
    ),
    CellExample(
        "smollm2-135m",
        "The animal didn't cross the street because it was too tired.",
        (13, 8),
        (8, "it"),
        (1, "animal"),
        Message("What “it” stands for: no single part decides, and cutting any of them changes little."),
    ),
    CellExample(
        "minilm-l6",
        "The bank by the river closed its doors before the storm came.",
        (1, 8),
        (10, "the"),
        (11, "storm"),
        Message("A BERT: this head looks at the next token, because of the vectors of their positions alone."),
    ),
)


@dataclass(frozen=True, eq=False)
class WhyThere:
    """A score against its competitors', as products of query parts and key parts."""

    queries: tuple[str, ...]  #: the largest parts; the last is all others
    keys: tuple[str, ...]
    table: np.ndarray  #: (queries, keys)
    row: np.ndarray  #: (K,) the query's weights
    score: float
    baseline: float  #: of its rivals
    difference: float  #: the sum of the table, and of what is outside it
    outside: float  #: of a position bias, a sink and a soft-cap
    entropy: float
    log_odds: float
    weight: float
    largest: str  #: the part of the key that adds most
    value: float  #: what it adds
    asker: str  #: the part of the query that its product is largest with
    source: int | None  #: the token that this part was read at; None where no head wrote it


def run(run: ModelRun, loaded: LoadedModel, cell: Cell) -> WhyThere:
    """Run the model once more with its residual stream recorded, and take the cell's score apart."""
    found = _attribute_cell(run, loaded, cell)
    stack_id, layer, head, query, _key = cell
    stack = run.stack(stack_id)
    queries, keys, table = found.compact(MOST_PARTS)
    largest = int(found.by_key[0].argmax())
    part = found.parts[largest]
    written_by_head = part.rpartition(".")[2].isdigit()
    return WhyThere(
        tuple(queries),
        tuple(keys),
        table.cpu().numpy(),
        stack.layers[layer].weights(head)[0, 0, query].float().numpy(force=True),
        float(found.score[0]),
        float(found.baseline[0]),
        float(found.log_odds[0] + found.entropy[0]),
        float(found.position[0] + found.sink[0] + found.capped[0]),
        float(found.entropy[0]),
        float(found.log_odds[0]),
        float(found.weight[0]),
        part,
        float(found.by_key[0, largest]),
        found.parts[int(found.table[0, :, largest].argmax())],
        int(found.by_key_source(part)[0].argmax()) if written_by_head else None,
    )


def cut_part(run: ModelRun, loaded: LoadedModel, cell: Cell, part: str) -> Cut:
    """The cell's weight with a part left out of the key, and with it switched off in the model."""
    return _attribute_cell(run, loaded, cell).cut(part)


def _attribute_cell(run: ModelRun, loaded: LoadedModel, cell: Cell) -> ScoreAttribution:
    stack_id, layer, head, query, key = cell
    trace = capture(loaded.model, logits=None, residual=True, **run.inputs_on(loaded.model.device))
    stack = next(stack for stack in run.stacks_in(trace) if stack.id == stack_id)
    return trace.score_attribution(trace.layers.index(stack.layers[layer]), head, query, key)
