"""All heads of a sentence at one address: from a run in memory, never from the model."""

from __future__ import annotations

from attnviz.app.cache import model_cache
from attnviz.canvas.head import sentence_heads
from attnviz.canvas.shared import packing
from attnviz.canvas.shared.blobs import document
from attnviz.pages.explore.panels import addresses
from attnviz.runs.model_run import Request, run_model
from scripts.browser_cases import decoded
from tests.models.conftest import minilm

__all__ = ["minilm"]


def answer(address: str) -> bytes | None:
    return sentence_heads.answer(address.rsplit("/", 1)[1])


def test_the_address_leads_to_every_head_while_the_run_is_in_memory(memory, minilm):
    request = Request("minilm-l6", "The cat sat on the mat.")
    run = memory.runs.get(request, lambda: run_model(request, minilm))
    address = addresses.of_heads(run, run.stacks[0])
    assert address == addresses.of_heads(run, run.stacks[0])
    header, payload = packing.unblob(answer(address))
    assert header["heads"] == [12] * 6
    assert header["doc"] == document(run.stacks[0].queries.labels, None)
    assert decoded(header["raw"], payload).shape[0] == 72
    memory.runs = model_cache.Shared().runs
    assert answer(address) is None


def test_a_long_sentence_has_no_such_address(memory, minilm):
    run = run_model(Request("minilm-l6", "cat " * 70), minilm)
    assert addresses.of_heads(run, run.stacks[0]) is None
