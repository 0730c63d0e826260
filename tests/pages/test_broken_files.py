"""Files and disks that fail, each for real, and what a visitor then reads: a sentence, or the same picture as ever."""

import os

import pytest

from attnviz.models.loading import cache_folder
from tests import broken_disks
from tests.pages import test_faults

fresh, mine = test_faults.fresh, test_faults.mine
agreed, heard, sentence, started_again = (
    test_faults.agreed,
    test_faults.heard,
    test_faults.sentence,
    test_faults.started_again,
)


@pytest.fixture
def readings(tmp_path, monkeypatch):
    folder = tmp_path / "readings"
    monkeypatch.setenv("ATTNVIZ_READINGS", str(folder))
    return folder


@pytest.mark.parametrize("fault", [broken_disks.filling_disk, lambda _folder, room: broken_disks.short_files(room)])
def test_a_disk_too_full_for_what_processes_share(visit, fresh, mine, readings, fault):
    readings.mkdir(mode=0o700)
    with fault(readings, 4096):
        heard(agreed(visit, mine))
        assert list(readings.iterdir()) == [], "nothing half written is left"
    started_again
