"""A folder of one's own is overwritten while its model is in memory."""

import subprocess
import sys

import pytest
import torch
from safetensors.torch import load_file

from attnviz.models.loading import version
from attnviz.models.loading.load_model import load
from tests.models.tiny import llama


@pytest.fixture
def other(tmp_path):
    """The bytes of a checkpoint of the same size with other weights."""
    llama(seed=1).save_pretrained(tmp_path / "other")
    return (tmp_path / "other" / "model.safetensors").read_bytes()


def overwrite(file, data):
    """In place, as `cp` does: the same file, other bytes in it."""
    inode = file.stat().st_ino
    with file.open("r+b") as opened:
        opened.write(data)
        opened.truncate()
    assert file.stat().st_ino == inode


def same_as(model, file):
    kept = load_file(file)
    return all(torch.equal(weight, kept[name]) for name, weight in model.state_dict().items())


def test_a_copy_over_the_files_leaves_the_model_in_memory_and_is_a_new_version(mine, other):
    file = mine / "model.safetensors"
    old, before = load(str(mine)), version(str(mine))
    assert same_as(old.model, file)
    kept = {name: weight.clone() for name, weight in old.model.state_dict().items()}
    assert (old.version, len(other)) == (before, file.stat().st_size)
    overwrite(file, other)
    assert all(torch.equal(weight, kept[name]) for name, weight in old.model.state_dict().items())
    assert version(str(mine)) != before
    new = load(str(mine))
    assert same_as(new.model, file)
    assert not same_as(old.model, file)


@pytest.mark.slow
def test_a_file_cut_short_ends_neither_the_process_nor_the_model(mine):
    code = """
import os, sys, torch
from attnviz.models.loading.load_model import load
model = load(sys.argv[1]).model
ids = torch.arange(12)[None]
before = model(ids).logits
os.truncate(sys.argv[1] + "/model.safetensors", 0)
print(torch.equal(model(ids).logits, before))
"""
    done = subprocess.run([sys.executable, "-c", code, str(mine)], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "True\n"), done.stderr
