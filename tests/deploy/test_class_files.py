"""What nginx sends of Streamlit's files is what the app itself sends of them."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from attnviz.serve import charts_script
from deploy.class_server import STATIC, ClassServer


@pytest.fixture(scope="module")
def sent(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that nginx sends files from."""
    server = ClassServer(1, "127.0.0.1:0", tmp_path_factory.mktemp("class"))
    server._copy_static()
    return server.folder / "static"


def test_plotlys_script_has_the_hint_and_every_other_file_is_streamlits_own(sent: Path) -> None:
    files = [path.relative_to(STATIC) for path in STATIC.rglob("*") if path.is_file()]
    changed = []
    for file in files:
        own, copy = (STATIC / file).read_bytes(), (sent / file).read_bytes()
        assert copy == charts_script.as_sent(file.name, own)
        changed += [file.name] if copy != own else []
    assert len(changed) == 1
    assert changed[0].startswith("PlotlyChart.")
    script = next(sent.rglob(changed[0])).read_bytes()
    assert script.startswith(b"//# allFunctionsCalledOnLoad\n")
    assert charts_script.IN_TURN in script


def test_what_is_sent_compressed_is_the_same_file(sent: Path) -> None:
    compressed = list(sent.rglob("*.gz"))
    assert len(compressed) > 50
    for path in compressed:
        assert gzip.decompress(path.read_bytes()) == path.with_suffix("").read_bytes()


@pytest.mark.parametrize("name", ["PlotlyChart.abc.css", "index.PlotlyChart.js", "Html.abc.js"])
def test_only_scripts_of_that_name_begin_with_the_hint(name: str) -> None:
    assert charts_script.as_sent(name, b"1") == b"1"
