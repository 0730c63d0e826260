"""Measurements of attention: each way's memory against its matrices, files, the command, and the section."""

import sys
from dataclasses import replace
from types import SimpleNamespace

import pytest
import torch

from attnviz.pages.fast import __main__ as command
from attnviz.pages.fast.maths import measured
from attnviz.runs import measuring
from tests.pages.conftest import charts, ran, read, sound

SMALL = measured.Config(heads=2, d_head=16, longest=512, rounds=1)


@pytest.fixture(scope="module")
def results():
    return list(measured.measure(SMALL))


@pytest.fixture
def own_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("ATTNVIZ_CACHE", str(tmp_path))
    return tmp_path / "measurements"


def test_it_grows_one_by_one_until_all_is_done(results):
    assert [len(result.timings) for result in results[:-1]] == list(range(1, len(results)))
    shares = [result.share for result in results]
    assert shares == sorted(shares)
    assert [result.done for result in results] == [False] * (len(results) - 1) + [True]


def test_every_way_is_there_or_refused_and_all_agree_with_64_bits(results):
    whole = results[-1]
    assert {*whole.ways, *whole.refused} == set(measured.HERE)
    assert {"naive", "tiled", "math"} <= set(whole.ways)
    assert all(0 <= off < 1e-5 for off in whole.apart.values())
    assert tuple(whole.apart) == whole.ways


def test_naive_attention_holds_two_matrices_and_the_fused_kernel_none(results):
    matrix = 2 * 512 * 512 * 4
    naive = results[-1].of("naive")[512].nbytes
    assert 2 * matrix <= naive < 2.2 * matrix
    if "flash" in results[-1].ways:
        assert results[-1].of("flash")[512].nbytes < matrix
        assert results[-1].shared("naive", "flash") == 512


def test_a_length_whose_matrices_are_too_large_is_left_to_the_others(monkeypatch):
    monkeypatch.setattr(measured, "MOST_BYTES", 2 * 2 * 128 * 128 * 4)
    *_, whole = measured.measure(replace(SMALL, longest=256, ways=("naive", "tiled")))
    assert (list(whole.of("naive")), list(whole.of("tiled"))) == ([128], [128, 256])


def test_a_way_that_takes_too_long_is_left_out_of_longer_sequences(monkeypatch):
    monkeypatch.setattr(measured, "SLOWEST", 0.0)
    *_, whole = measured.measure(replace(SMALL, ways=("naive",)))
    assert list(whole.of("naive")) == [128]


def test_what_is_kept_is_found_again_and_what_is_damaged_is_not(results, own_folder):
    path = measured.keep(results[-1])
    assert path.parent == own_folder
    assert measured.kept()[path.stem] == results[-1]
    (own_folder / "fast-other.json").write_text('{"format": 1, "result": {')
    (own_folder / "fast-older.json").write_text('{"format": 0}')
    assert set(measured.kept()) == {path.stem, *(f"given-{each.stem}" for each in measured.shipped())}


def test_what_is_shipped_is_whole_and_says_where_it_was_taken():
    (path,) = measured.shipped()
    result = measured._read(path)
    assert result.done
    assert path.stem == measured.file_name(result)
    assert result.of("naive")[4096].nbytes >= 2 * 8 * 4096**2 * 4
    assert result.of("flash")[4096].nbytes < 2**24


def test_too_short_a_longest_sequence_is_refused_with_what_is_allowed():
    with pytest.raises(ValueError, match="longest=64 must lie between 128 and 1048576"):
        measured.Config(longest=64)


def test_the_command_prints_each_measurement_and_keeps_a_file_named_with_the_machine(tmp_path, monkeypatch, capsys):
    asked = ["fast", "--longest", "128", "--ways", "naive", "cudnn", "--to", str(tmp_path), "--device", "cpu"]
    monkeypatch.setattr(sys, "argv", [*asked, "--dtype", "float32"])
    monkeypatch.setattr(torch, "set_num_threads", lambda _n: None)
    command.main()
    printed = capsys.readouterr().out
    assert printed.startswith("naive           128 tokens")
    assert "cudnn: " in printed
    (path,) = tmp_path.glob("fast-*-cpu.json")
    assert measured._read(path).config.longest == 128


def test_on_a_gpu_time_waits_for_it_and_memory_is_what_its_allocator_says(monkeypatch):
    """No GPU is here: what is asked of one is recorded, and answered in its place."""
    asked = []
    fake = SimpleNamespace(
        synchronize=lambda device: asked.append("wait"),
        reset_peak_memory_stats=lambda device: asked.append("reset"),
        memory_allocated=lambda device: 1000,
        max_memory_allocated=lambda device: 5000,
    )
    monkeypatch.setattr(measuring.torch, "cuda", fake)
    assert measuring.peak_bytes(lambda: asked.append("call"), "cuda") == 4000
    assert asked == ["reset", "call"]
    asked.clear()
    assert measuring.fastest(lambda: asked.append("call"), 1, "cuda") > 0
    assert asked[:3] == ["wait", "call", "wait"]


def test_the_program_measures_here():
    _names, printed = ran(measured.program(SMALL))
    assert "naive " in printed
    assert "1,024 tokens" in printed


def test_the_section_shows_what_was_shipped_and_names_the_machine(visit, own_folder):
    page = sound(visit("fast", fast_section="measured"))
    result = measured._read(measured.shipped()[0])
    naive, flash = result.of("naive")[4096].seconds, result.of("flash")[4096].seconds
    assert f"{naive / flash:.1f} times as fast" in read(page)
    assert result.machine.processor in read(page)
    assert result.day in read(page)
    assert "SDPA CUDNN" in read(page)
    time, memory = charts(page)
    assert [len(trace["x"]) for trace in time["data"]] == [len(trace["x"]) for trace in memory["data"]]


def test_where_strangers_come_nothing_is_measured(visit, own_folder, monkeypatch):
    monkeypatch.setenv("ATTNVIZ_HOSTED", "1")
    page = sound(visit("fast", fast_section="measured"))
    assert "fast_measure" not in [button.key for button in page.button]


def test_a_visitor_at_home_measures_and_the_page_chooses_between_machines(visit, own_folder, monkeypatch):
    monkeypatch.setattr(measured, "Config", lambda **given: replace(SMALL, ways=("naive", "tiled")))
    page = visit("fast", fast_section="measured")
    page.button(key="fast_measure").click().run()
    for _try in range(60):
        if list(own_folder.glob("fast-*.json")):
            break
        page.run()
    assert not page.error
    (path,) = own_folder.glob("fast-*.json")
    monkeypatch.undo()
    own = measured._read(path)
    assert own.done
    assert own.machine == measured.this_machine()
    assert f"{own.machine.processor}, {own.day}" in page.selectbox(key="fast_machine").options
