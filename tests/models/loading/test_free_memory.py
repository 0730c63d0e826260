"""What a model may take: the least that machine, container and process have left."""

import sys

import pytest

from attnviz.base.message import Problem
from attnviz.models.catalogue import find
from attnviz.models.loading import open_folder
from attnviz.models.loading.open_folder import check_memory
from attnviz.models.settings import current_settings
from tests.pages.scarce_memory import scarce

MB = 10**6
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="other systems do not tell what is free")


@pytest.mark.parametrize("limit, used", open_folder.LIMITS)
def test_a_container_s_limit_counts_where_it_is_the_smallest(tmp_path, monkeypatch, limit, used):
    monkeypatch.setattr(open_folder, "CGROUP", tmp_path)
    machine = open_folder.free_memory("cpu")
    for name, held in ((limit, 700 * MB), (used, 400 * MB)):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(f"{held}\n")
    assert open_folder.free_memory("cpu") == 300 * MB
    with pytest.raises(Problem, match="its weights take 538 MB of memory and 300 MB are free"):
        check_memory(538 * MB, find("smollm2-135m"), current_settings(), "cpu")
    (tmp_path / used).write_text(f"{900 * MB}\n")
    assert open_folder.free_memory("cpu") == 0
    (tmp_path / limit).write_text("max\n")
    assert open_folder.free_memory("cpu") == pytest.approx(machine, rel=0.5)


def test_of_a_process_s_own_limit_what_reading_takes_is_kept_free():
    before = open_folder.free_memory("cpu")
    with scarce(open_folder.KEPT_FREE + 50 * MB):
        assert open_folder.free_memory("cpu") == pytest.approx(50 * MB, abs=10 * MB)
    assert open_folder.free_memory("cpu") == pytest.approx(before, rel=0.5)
