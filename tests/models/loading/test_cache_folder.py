import json
import subprocess
import sys

import pytest

from attnviz.base.message import Problem
from attnviz.models.loading import cache_folder
from tests.broken_disks import short_files


def write(folder):
    (folder / "a.bin").write_bytes(b"x" * 1000)
    (folder / "b.txt").write_text("hello")


def test_what_was_built_is_whole_and_intact_and_what_a_dead_writer_left_behind_is_swept(tmp_path):
    folder = tmp_path / "kept"
    (tmp_path / "kept.partial-99-dead").mkdir(parents=True)
    assert not cache_folder.is_whole(folder)
    cache_folder.build(folder, write, "Mine")
    assert cache_folder.is_whole(folder)
    assert cache_folder.is_intact(folder)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["kept", "kept.lock"]


MANIFESTS = ["", "{}", "[]", "\0" * 99, "[" * 100_000, '{"files": 3}', '{"files": {}}', '{"files": {"a.bin": 3}}']
FAULTS = [("a.bin", b"y" + b"x" * 999, True), ("a.bin", b"x" * 999, False)]
FAULTS += [(cache_folder.MANIFEST, text.encode(), False) for text in MANIFESTS]


@pytest.mark.parametrize("name, data, whole", FAULTS, ids=range(len(FAULTS)))
def test_a_folder_with_an_invalid_manifest_is_not_whole(tmp_path, name, data, whole):
    """Nor one whose file is shorter; a changed byte is noticed by its hash."""
    folder = tmp_path / "kept"
    cache_folder.build(folder, write, "Mine")
    (folder / name).write_bytes(data)
    assert cache_folder.is_whole(folder) == whole
    assert not cache_folder.is_intact(folder)
    cache_folder.build(folder, write, "Mine", unless_whole=not whole)
    assert cache_folder.is_intact(folder)


def test_a_writer_that_fails_leaves_nothing_and_the_old_folder_as_it_was(tmp_path):
    folder = tmp_path / "kept"
    cache_folder.build(folder, write, "Mine")

    with (
        short_files(500),
        pytest.raises(Problem, match="Mine could not be stored in the cache folder: File too large"),
    ):
        cache_folder.build(folder, write, "Mine", unless_whole=False)
    assert cache_folder.is_intact(folder)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["kept", "kept.lock"]


def test_one_of_two_processes_builds_and_a_killed_one_blocks_no_other(tmp_path):
    code = (
        "import sys, time, pathlib; from attnviz.models.loading import cache_folder\n"
        "def write(folder):\n"
        "    (folder / 'a').write_text('x'); print('building', flush=True); time.sleep(float(sys.argv[2]))\n"
        "cache_folder.build(pathlib.Path(sys.argv[1]), write, 'Mine')"
    )

    def start(seconds):
        command = [sys.executable, "-c", code, str(tmp_path / "kept"), seconds]
        return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)

    dying = start("60")
    assert dying.stdout.readline() == "building\n"
    dying.kill()
    dying.wait()
    pair = [start("0.2"), start("0.2")]
    said = [process.communicate(timeout=60)[0] for process in pair]
    assert sorted(said) == ["", "building\n"]
    assert cache_folder.is_intact(tmp_path / "kept")
    assert json.loads((tmp_path / "kept" / cache_folder.MANIFEST).read_text())["files"]["a"]["size"] == 1
