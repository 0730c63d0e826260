"""`attnviz figure` of several links, and of pictures that move."""

import os
import subprocess
import sys

import pytest
from PIL import Image, ImageSequence

from attnviz.command.command_line import main


def test_several_links_are_as_many_files_with_their_numbers(tmp_path):
    links = ["masks?m_text=a b c", "masks?m_text=a b c d"]
    assert main(["figure", *links, "-o", str(tmp_path / "mask.csv"), "-o", str(tmp_path / "mask.svg")]) == 0
    assert sorted(file.name for file in tmp_path.iterdir()) == ["mask-1.csv", "mask-1.svg", "mask-2.csv", "mask-2.svg"]
    cells = [len((tmp_path / f"mask-{number}.csv").read_text().splitlines()) - 1 for number in (1, 2)]
    assert cells == [9, 16]


def test_one_wrong_link_of_several_leaves_no_file(tmp_path, capsys):
    links = ["masks?m_text=a b c", "masks?m_seed=-1"]
    assert main(["figure", *links, "-o", str(tmp_path / "mask.csv")]) == 2
    assert "The link asks for “Seed” = “-1”" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_a_picture_that_moves_is_saved_as_a_film_of_a_part_of_it(tmp_path):
    film = tmp_path / "tiles.webp"
    assert main(["figure", "fast", "-o", str(film), "--square", "--part", "0", "0.1"]) == 0
    saved = Image.open(film)
    assert (saved.size, len(list(ImageSequence.Iterator(saved)))) == ((1080, 1080), 3)


@pytest.mark.parametrize(
    "more, refusal",
    [
        (["-o", "x.gif"], "does not move"),
        (["-o", "x.mp3"], "must end in .svg, .png, .gif, .webp, .html, .csv"),
        (["-o", "x.gif", "--part", "0.5", "0.5"], "between 0 and 1"),
    ],
)
def test_what_is_no_film_is_refused_without_a_file(more, refusal, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["figure", "masks?m_text=a b c", *more]) != 0
    assert refusal in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


@pytest.mark.skipif(sys.platform != "linux", reason="torch has GNU's OpenMP, which can be asked, on Linux")
def test_torch_does_not_spin_while_it_waits_unless_asked_to(tmp_path):
    command = [sys.executable, "-m", "attnviz", "figure", "decoding?d_model=core&d_steps=1"]
    clean = {name: value for name, value in os.environ.items() if name not in ("OMP_WAIT_POLICY", "GOMP_SPINCOUNT")}
    for asked, spins in ({}, False), ({"OMP_WAIT_POLICY": "active"}, True):
        env = clean | {"OMP_DISPLAY_ENV": "verbose"} | asked
        done = subprocess.run([*command, "-o", str(tmp_path / "a.svg")], env=env, capture_output=True, text=True)
        assert done.returncode == 0
        assert "GOMP_SPINCOUNT" in done.stderr
        assert ("GOMP_SPINCOUNT = '0'" not in done.stderr) is spins
