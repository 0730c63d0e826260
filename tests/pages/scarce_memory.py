"""What `test_scarce_memory` runs in a process of its own: its address space is bounded for real (RLIMIT_AS)."""

import ctypes
import gc
import html
import mmap
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import torch
from transformers import GPT2Config, GPT2LMHeadModel

from attnviz import engine
from tests.models.tiny_tokenizers import byte_level
from tests.pages.test_faults import agreed, fresh, heard, sentence, started_again

__all__ = ["fresh"]

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="no other system bounds a process's address space")
INNER, TOKENS = 60_000, 400
#: MB that are left: nothing, and so little that reading the weights ended the process
ROOMS = (20, 140)


@contextmanager
def scarce(room: int) -> Iterator[None]:
    """Let this process map so many bytes more, and no others, until the block ends."""
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + room, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


def filled() -> list[mmap.mmap]:
    """What is left of the address space, taken in pieces, but for one that small things still fit in."""
    held = []
    try:
        while True:
            held.append(mmap.mmap(-1, 2**23))
    except OSError:
        return held[:-1]


@pytest.fixture(scope="module")
def wide(tmp_path_factory):
    """A model of 15 MB whose MLPs take 96 MB for 400 tokens."""
    torch.manual_seed(0)
    ids = {"bos_token_id": 0, "eos_token_id": 0}
    config = GPT2Config(vocab_size=320, n_positions=512, n_embd=16, n_inner=INNER, n_layer=2, n_head=4, **ids)
    folder = tmp_path_factory.mktemp("models") / "wide"
    GPT2LMHeadModel(config).save_pretrained(folder)
    byte_level().save_pretrained(folder)
    return folder


def test_no_memory_for_a_model(visit, fresh, wide, monkeypatch):
    heard(agreed(visit, wide))  # so that everything is imported
    for room in ROOMS:
        started_again(monkeypatch)
        with scarce(room * 10**6):
            page = agreed(visit, wide)
        told = re.fullmatch(
            r"wide is too large for this machine: its weights take 1\d MB of memory and (\d+) MB are free",
            sentence(page),
        )
        assert told
        assert int(told[1]) < 15
    assert len(heard(page.run())) == 2, "there is room again"


def test_no_memory_for_a_pass(visit, fresh, wide, monkeypatch):
    page, real = agreed(visit, wide), engine.run_model

    def poor(*given):
        gc.collect()  # what goes away during the pass would leave room for it
        ctypes.CDLL(None).malloc_trim(0)
        with scarce(64 * 10**6):
            held = filled()
            try:
                return real(*given)
            finally:
                held.clear()

    before = heard(page)
    text = "the cat sat on the mat. " * (TOKENS // 24)
    with monkeypatch.context() as patch:
        patch.setattr(engine, "run_model", poor)
        page.text_area(key="text").set_value(text).run()
    assert not page.exception
    assert [html.unescape(each.value) for each in page.error] == [
        "There is not enough memory left for this. A shorter sentence or a smaller model takes less."
    ]
    assert page.text_area(key="text").value == text
    heard(page.run())
    assert heard(page.text_area(key="text").set_value("the cat sat").run()) == before
