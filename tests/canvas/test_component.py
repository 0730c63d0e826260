"""Components as they are registered: what the manifest, the bundles and the sources say must agree."""

import tomllib
from pathlib import Path

import pytest

import attnviz
from attnviz.canvas.shared.registration import BUNDLES, NAMES

PACKAGE = Path(attnviz.__file__).parent
MANIFEST = tomllib.loads((PACKAGE / "pyproject.toml").read_text(encoding="utf-8"))


def test_the_manifest_declares_every_component_and_where_its_files_are():
    declared = MANIFEST["tool"]["streamlit"]["component"]["components"]
    assert sorted(entry["name"] for entry in declared) == list(NAMES)
    assert all(PACKAGE / entry["asset_dir"] == BUNDLES for entry in declared)
    assert MANIFEST["project"]["name"] == "attnviz", "Streamlit drops a manifest of another name"


@pytest.mark.parametrize("name", NAMES)
def test_a_bundle_can_also_be_handed_over_as_text(name):
    """Streamlit takes text of one line for the name of a file."""
    for suffix in ("js", "css"):
        text = (BUNDLES / f"{name}.{suffix}").read_text(encoding="utf-8").strip()
        assert "\n" in text


@pytest.mark.parametrize("name", NAMES)
def test_a_bundle_stands_alone(name):
    """A bundle that is handed over as text has no address to fetch another one from."""
    script = (BUNDLES / f"{name}.js").read_text(encoding="utf-8")
    assert "as default}" in script
    assert "import{" not in script
    assert "import(" not in script
