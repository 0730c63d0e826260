"""Measurements of attention: each way's memory against its matrices, files, the command, and the section."""

from dataclasses import replace
from types import SimpleNamespace

import pytest

from attnviz.analysis import measuring
from attnviz.pages.fast.maths import measured
from tests.pages.conftest import read, sound

SMALL = measured.Config(heads=2, d_head=16, longest=512, rounds=1)


@pytest.fixture(scope="module")
def results():
    return list(measured.measure(SMALL))


@pytest.fixture
def own_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("ATTNVIZ_CACHE", str(tmp_path))
    return tmp_path / "measurements"


def test_every_way_is_there_or_refused_and_all_agree_with_64_bits(results):
    whole = results[-1]
    assert {*whole.ways, *whole.refused} == set(measured.HERE)
    assert {"naive", "tiled", "math"} <= set(whole.ways)
    assert all(0 <= off < 1e-5 for off in whole.apart.values())
    assert tuple(whole.apart) == whole.ways


def test_layers_run_and_the_one_with_its_weights_built_holds_them():
    *_partial, whole = measured.measure(replace(SMALL, ways=measured.LAYERS))
    assert whole.ways == measured.LAYERS
    assert not whole.refused
    weights = 2 * 512 * 512 * 4
    assert weights <= whole.timings_of("explicit")[512].nbytes < 3 * weights
    assert whole.timings_of("fused")[512].nbytes < weights / 2


def test_what_is_shipped_is_whole_and_says_where_it_was_taken(visit, own_folder):
    shipped = {path.stem: measured._read_result(path) for path in measured.shipped_results()}
    for name, result in shipped.items():
        assert result.is_done
        assert name == measured.file_name(result)
    assert sorted(result.subject for result in shipped.values()) == ["kernels", "layers"]
    layers = next(result for result in shipped.values() if result.subject == "layers")
    page = sound(visit("fast", fast_section="measured", fast_ways="layers"))
    explicit, lstm = layers.timings_of("explicit"), layers.timings_of("lstm")
    n = max(explicit)
    grown = [way[n].seconds / way[n // 2].seconds for way in (explicit, lstm)]
    assert f"From {n // 2:,} tokens to twice as many it took {grown[0]:.1f} times as long" in read(page)
    assert f"an LSTM {grown[1]:.1f} times" in read(page)
    result = shipped["fast-amd-epyc-cpu"]
    assert result.timings_of("naive")[4096].nbytes >= 2 * 8 * 4096**2 * 4
    assert result.timings_of("flash")[4096].nbytes < 2**24


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
    assert measuring.fastest_round(lambda: asked.append("call"), 1, "cuda") > 0
    assert asked[:3] == ["wait", "call", "wait"]


def test_a_visitor_at_home_measures_and_the_page_chooses_between_machines(visit, own_folder, monkeypatch):
    monkeypatch.setitem(measured.SUBJECTS, "kernels", replace(SMALL, ways=("naive", "tiled")))
    page = visit("fast", fast_section="measured")
    page.button(key="fast_measure").click().run()
    for _try in range(60):
        if list(own_folder.glob("fast-*.json")):
            break
        page.run()
    assert not page.error
    (path,) = own_folder.glob("fast-*.json")
    monkeypatch.undo()
    own = measured._read_result(path)
    assert own.is_done
    assert own.machine == measured.this_machine()
    assert f"{own.machine.processor}, {own.day}" in page.selectbox(key="fast_machine").options
