"""Files and disks that fail, each for real, and what a visitor then reads: a sentence, or the same picture as ever.

The table of docs/hosting/faults.md lists them.
"""

import os
import tempfile
from pathlib import Path

import pytest

from attnviz.models.loading import open_folder
from tests import broken_disks
from tests.broken_disks import DAMAGES, DISKS
from tests.pages import test_faults
from tests.pages.conftest import canvases_on
from tests.pages.test_faults import agreed, heard, sentence, started_again

fresh, mine = test_faults.fresh, test_faults.mine
WEIGHTS = "model.safetensors"


@pytest.fixture
def tmp_path():
    """A folder that every user of this machine may enter: some of the tests are not run as root."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        yield Path(folder)


@pytest.fixture
def readings(tmp_path, monkeypatch):
    folder = tmp_path / "readings"
    folder.mkdir(mode=0o700)
    monkeypatch.setenv("ATTNVIZ_READINGS", str(folder))
    return folder


def another_sentence(page):
    """The page for another sentence, which no file holds yet."""
    return page.text_area(key="text").set_value("another one").run()


@pytest.mark.parametrize("disk", DISKS.values(), ids=DISKS)
def test_a_disk_too_full_for_what_processes_share(visit, fresh, mine, readings, disk):
    with disk(readings, 4096):
        page = agreed(visit, mine)
        before = heard(page)
        assert heard(another_sentence(page)) != before
        assert list(readings.iterdir()) == [], "nothing half written is left"


@pytest.mark.parametrize("mode", [0o500, 0o000], ids=["read only", "forbidden"])
def test_a_folder_of_readings_that_cannot_be_written_or_entered(visit, fresh, mine, readings, monkeypatch, mode):
    before = heard(agreed(visit, mine))
    (mine / WEIGHTS).chmod(0o644)
    with broken_disks.with_mode(readings, mode):
        started_again(monkeypatch)
        page = agreed(visit, mine)
        assert heard(page) == before
        heard(another_sentence(page))


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
def test_a_shared_reading_that_is_damaged(visit, fresh, mine, readings, monkeypatch, damage):
    page = agreed(visit, mine)
    before = heard(page)
    (file,) = readings.iterdir()
    whole = file.read_bytes()
    file.write_bytes(damage(whole))
    assert heard(page.run()) == before, "while the app runs"
    started_again(monkeypatch)
    assert heard(page.run()) == before
    assert file.stat().st_size == len(whole), "it is written anew"


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
def test_a_file_of_a_model_that_is_damaged(visit, fresh, mine, monkeypatch, damage):
    page = agreed(visit, mine)
    for name in (WEIGHTS, "config.json", "tokenizer.json"):
        whole = (mine / name).read_bytes()
        (mine / name).write_bytes(damage(whole))
        started_again(monkeypatch)
        page.run()
        if name == WEIGHTS and page.get("bidi_component") and not page.error:
            heard(page)  # other numbers are a model, too
        else:
            assert "mine" in sentence(page)
        (mine / name).write_bytes(whole)
    heard(page.run())


def test_weights_that_are_cut_short_under_a_model_that_is_in_use(visit, fresh, mine):
    heard(agreed(visit, mine))
    held = next(iter(fresh.models._values.values()))[0].model
    os.truncate(mine / WEIGHTS, 100)
    assert sum(float(each.sum()) for each in held.parameters()) != 0, "its numbers are not the file's"


def test_a_folder_of_a_model_that_may_not_be_entered(visit, fresh, mine):
    with broken_disks.with_mode(mine, 0o000):
        assert sentence(agreed(visit, mine)) == "The folder mine cannot be read: Permission denied"
    heard(agreed(visit, mine))


def test_weights_that_are_cut_short_while_they_are_read(visit, fresh, mine, monkeypatch):
    real = open_folder._fill

    def cut(*given, **named):
        os.truncate(mine / WEIGHTS, 1000)
        return real(*given, **named)

    with monkeypatch.context() as patch:
        patch.setattr(open_folder, "_fill", cut)
        assert "mine cannot be opened: " in sentence(agreed(visit, mine))


BROKEN = {
    "full": (lambda folder: broken_disks.filling_disk(folder, 65_536), "needs"),
    "read only": (lambda folder: broken_disks.with_mode(folder, 0o500), "cannot be written: Permission denied"),
    "forbidden": (lambda folder: broken_disks.with_mode(folder, 0o000), "cannot be written: Permission denied"),
}


@pytest.mark.parametrize("fault, why", BROKEN.values(), ids=BROKEN)
def test_the_first_pages_over_a_cache_that_holds_no_model(visit, fresh, minilm, monkeypatch, tmp_path, fault, why):
    """Start shows random vectors where its model cannot be prepared; Explore says why there is none."""
    monkeypatch.setenv("ATTNVIZ_CACHE", str(tmp_path / "cache"))
    (tmp_path / "cache").mkdir()
    with fault(tmp_path / "cache"):
        start = visit("home")
        assert len(canvases_on(start)) == 1
        explore = visit("explore", model="smollm2-135m", text=test_faults.OTHER["text"])
        assert why in sentence(explore)
