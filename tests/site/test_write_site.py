"""The folder that `attnviz site` writes: files that lie beside each other, and nothing that asks another machine."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from attnviz.command.command_line import main
from attnviz.site import write_site
from tests.live.test_page import Elements
from tests.models.conftest import minilm

__all__ = ["minilm"]


class Page(Elements):
    """The elements of a page, and what its data says of the view."""

    @property
    def view(self) -> Any:
        return json.loads(self.text_of("attnviz-view"))


@pytest.fixture(scope="module")
def site(minilm, tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("site") / "inside"
    assert main(["site", str(folder), "--model", "minilm-l6", "--language", "en", "zh"]) == 0
    return folder


def test_all_that_a_page_names_lies_beside_it(site):
    for name in ("index.html", "index.zh.html"):
        page = Page((site / name).read_text("utf-8"))
        named = [value for _, attrs, _text in page.found for key in ("src", "href") if (value := attrs.get(key))]
        assert {each for each in named if each != "data:,"} == {"site.css", "site.js", "licences.txt"}
        assert all((site / each).is_file() for each in ("site.css", "site.js", "worker.js", "licences.txt"))
        assert (site / "licences.txt").read_text("utf-8").count("Apache-2.0") == 3
        policy = next(attrs["content"] for _, attrs, _text in page.found if attrs.get("http-equiv"))
        assert policy is not None
        assert "http" not in policy
        assert policy.startswith("default-src 'none'")
    assert Page((site / "index.zh.html").read_text("utf-8")).view["words"]["read"] == "读取"


def test_the_script_that_keeps_the_page_names_its_files_and_changes_with_them(site):
    script = (site / "offline.js").read_text("utf-8")
    found = re.search(r'JSON\.parse\(\'(\{"name".*?\})\'\)', script)
    assert found is not None
    kept = json.loads(found[1])
    assert sorted(kept["files"]) == sorted(
        ["./", "index.html", "index.zh.html", "licences.txt", "site.css", "site.js", "worker.js"]
    )
    (site / "site.css").write_text((site / "site.css").read_text("utf-8") + "/* other */", encoding="utf-8")
    assert (
        json.loads(re.search(r'JSON\.parse\(\'(\{"name".*?\})\'\)', write_site._offline(site))[1])["name"]
        != kept["name"]
    )  # type: ignore[index]


def _of_others(folder: Path) -> None:
    (folder / "index.html").write_text("mine")


def _link_itself(folder: Path) -> None:
    folder.rmdir()
    (folder.parent / "elsewhere").mkdir()
    folder.symlink_to(folder.parent / "elsewhere")


def _link_inside(folder: Path) -> None:
    (folder.parent / "mine").write_text("mine")
    (folder / write_site.MARK).touch()
    (folder / "licences.txt").symlink_to(folder.parent / "mine")


@pytest.mark.parametrize("makes", [_of_others, _link_itself, _link_inside])
def test_no_file_of_others_is_overwritten_and_nothing_is_written_through_a_link(minilm, tmp_path, capsys, makes):
    folder = tmp_path / "site"
    folder.mkdir()
    makes(folder)
    before = {file: file.read_bytes() for file in tmp_path.rglob("*") if file.is_file()}
    assert main(["site", str(folder), "--model", "minilm-l6"]) == 1
    assert str(folder) in capsys.readouterr().err
    assert {file: file.read_bytes() for file in tmp_path.rglob("*") if file.is_file()} == before
