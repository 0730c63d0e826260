"""What nginx sends of Streamlit's files is what the app itself sends of them."""

import gzip
from pathlib import Path

import pytest

from attnviz.serve.compressed_files import STATIC
from deploy.class_server import ClassServer


@pytest.fixture(scope="module")
def sent(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that nginx sends files from."""
    server = ClassServer(1, "127.0.0.1:0", tmp_path_factory.mktemp("class"))
    server._copy_static()
    return server.folder / "static"


def test_every_file_is_streamlits_own_and_what_is_compressed_is_the_same(sent: Path) -> None:
    files = [path.relative_to(STATIC) for path in STATIC.rglob("*") if path.is_file()]
    assert [file for file in files if (sent / file).read_bytes() != (STATIC / file).read_bytes()] == []
    compressed = list(sent.rglob("*.gz"))
    assert len(compressed) > 50
    for path in compressed:
        assert gzip.decompress(path.read_bytes()) == path.with_suffix("").read_bytes()
