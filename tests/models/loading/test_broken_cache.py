"""A cache folder on a full disk, that nobody may write to or enter, or with damaged files in it; all for real."""

import tempfile
from pathlib import Path

import pytest
from torch.testing import assert_close

from attnviz.base.message import Problem
from attnviz.command import main
from attnviz.models.capture import Trace
from attnviz.models.file_faults import FAILED, first_line
from attnviz.models.loading import EXAMPLES, cache_folder, gguf
from attnviz.models.loading.example_traces import example_folder, is_prepared, prepare_examples, prepared_example
from attnviz.serve import compressed_files
from tests import broken_disks
from tests.broken_disks import DAMAGES, DISKS
from tests.models import tiny_gguf

MINI = "minilm-l6"
EXAMPLE = next(each for each in EXAMPLES if each.model == MINI)
PAGE = 4096  #: bytes that a file on such a disk takes at least


@pytest.fixture
def cache(monkeypatch):
    """An empty cache folder that every user of this machine may find, and one small model beside it."""
    monkeypatch.setenv("ATTNVIZ_MODELS", MINI)
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        monkeypatch.setenv("ATTNVIZ_CACHE", str(Path(folder, "cache")))
        yield Path(folder, "cache")


@pytest.fixture
def kept(minilm, cache):
    """An example's run, prepared and opened."""
    prepare_examples(minilm)
    return prepared_example(EXAMPLE).trace


def left_in(folder):
    return sorted(path.name for path in folder.rglob("*") if path.is_file() and path.suffix != ".lock")


@pytest.mark.parametrize("disk", DISKS.values(), ids=DISKS)
def test_preparing_on_a_disk_that_fills_up_ends_in_one_sentence(minilm, cache, capsys, disk):
    with disk(cache, 65_536):
        assert main(["models", "prepare"]) == 1
        assert left_in(cache) == []
    *_steps, last = capsys.readouterr().err.splitlines()
    assert last.startswith("attnviz: MiniLM L6 could not be stored in the cache folder: ")
    assert last.endswith(("No space left on device", "File too large"))
    assert main(["models", "prepare"]) == 0, "there is room again"
    assert is_prepared(minilm.entry)


@pytest.mark.skipif(not broken_disks.can_mount(), reason="this machine mounts no disk for a test")
def test_whichever_file_of_a_conversion_fills_the_disk_the_sentence_is_the_same(tmp_path, cache):
    """Weights, config, tokenizer and manifest are written by four libraries, with an error of its own in each."""
    tiny_gguf.write(tmp_path / "tiny.gguf")
    cache_folder.build(tmp_path / "kept", lambda fresh: gguf.convert(tmp_path / "tiny.gguf", fresh), "Tiny")
    sizes = [path.stat().st_size for path in (tmp_path / "kept").iterdir()]
    needed = sum(-(-size // PAGE) for size in sizes)
    kinds = set()
    for lacking in (*range(1, len(sizes) + 4), needed - 1):
        with (
            broken_disks.filling_disk(cache, PAGE * (needed - lacking)),
            pytest.raises(Problem, match="Tiny could not be stored in the cache folder: No space left") as told,
        ):
            cache_folder.build(cache / "kept", lambda fresh: gguf.convert(tmp_path / "tiny.gguf", fresh), "Tiny")
        kinds.add(type(told.value.__cause__.__cause__ or told.value.__cause__).__name__)
    assert kinds >= {"SafetensorError", "Exception", "OSError"}


@pytest.mark.parametrize("mode", [0o500, 0o000], ids=["read only", "forbidden"])
def test_a_cache_that_cannot_be_written_or_entered_is_told_and_reads_as_empty(minilm, cache, capsys, mode):
    cache.mkdir()
    with broken_disks.with_mode(cache, mode):
        assert main(["models"]) == 0, "the list of models"
        assert not is_prepared(minilm.entry)
        assert all(prepared_example(each) is None for each in EXAMPLES if each.model == MINI)
        assert compressed_files.prepare() is None
        with pytest.raises(Problem, match=r"The cache folder .* cannot be written: Permission denied; ATTNVIZ_CACHE"):
            prepare_examples(minilm)
        capsys.readouterr()
        assert main(["models", "prepare"]) == 1
    assert capsys.readouterr().err.splitlines()[-1].endswith("ATTNVIZ_CACHE names another")


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
@pytest.mark.parametrize("ending", ["json", "safetensors"])
def test_a_damaged_trace_is_none_until_it_is_whole_again(minilm, kept, ending, damage):
    file = example_folder(minilm.entry) / f"{EXAMPLE.id}.{ending}"
    whole = file.read_bytes()
    file.write_bytes(damage(whole))
    assert prepared_example(EXAMPLE) is None
    file.write_bytes(whole)
    assert_close(prepared_example(EXAMPLE).trace.layers[0].weights(), kept.layers[0].weights())


def test_a_trace_that_is_cut_short_under_its_reader_keeps_its_numbers(minilm, kept):
    """A file that is mapped into memory would end the process here."""
    before = kept.layers[0].q.clone()
    with (example_folder(minilm.entry) / f"{EXAMPLE.id}.safetensors").open("r+b") as file:
        file.truncate(100)
    assert_close(kept.layers[0].q, before, rtol=0, atol=0)


def test_a_trace_that_does_not_fit_leaves_the_one_before(kept, cache):
    file = cache / "mine.safetensors"
    kept.save(file)
    whole = file.read_bytes()
    with broken_disks.short_files(65_536), pytest.raises(FAILED) as told:
        kept.save(file)
    assert first_line(told.value) == "File too large"
    assert file.read_bytes() == whole
    assert [path.name for path in cache.iterdir() if path.is_file()] == [file.name], "nothing half written is left"
    assert Trace.load(file).layers


@pytest.mark.slow
def test_files_of_the_front_end_that_are_damaged_are_made_again_at_the_start(cache):
    folder = compressed_files.prepare()
    file = next(folder.rglob("*.js.gz"))
    whole = file.read_bytes()
    file.write_bytes(bytes(len(whole)))
    assert compressed_files.prepare() == folder
    assert file.read_bytes() == whole
