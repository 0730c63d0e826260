"""A further language, tried: French on ten sentences, by one file and one command, in a copy of the repository."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from babel.messages import pofile

from scripts.words import ROOT
from tests.tracked import tracked

pytestmark = pytest.mark.slow

TEN = {
    "Glossary": "Glossaire", "Start": "Accueil", "Masks": "Masques", "Lessons": "Leçons",
    "What is attention?": "Qu’est-ce que l’attention ?", "Find a word": "Chercher un mot", "Begin": "Commencer",
    "There is no language {asked}; there are: {known}": "La langue {asked} n’existe pas ; il y a : {known}",
    "The weights of a row sum to 1": "La somme des poids d’une ligne vaut 1",
    "Layer {layer}, head {head}": "Couche {layer}, tête {head}",
}  # fmt: skip
ASK = """
import sys
sys.argv = ["attnviz"]
from attnviz.base import words
from streamlit.testing.v1 import AppTest
print(dict(words.languages()))
app = AppTest.from_file("attnviz/serve/main.py", default_timeout=120)
app.switch_page("../pages/glossary/glossary.py")
app.query_params["lang"] = "fr"
app.run()
assert not app.exception
print(app.title[0].value, "|", app.text_input[0].label)
with words.speaking("fr-CA"):
    print(words._("Layer {layer}, head {head}").format(layer=3, head=1))
"""


def run(folder: Path, *arguments: str, status: int = 0, **more: str) -> str:
    env = os.environ | {"PYTHONPATH": str(folder), "PYTHONIOENCODING": "utf-8"} | more
    done = subprocess.run(
        [sys.executable, *arguments], cwd=folder, env=env, capture_output=True, encoding="utf-8", check=False
    )
    assert done.returncode == status, done.stderr + done.stdout
    return done.stdout + done.stderr * (status > 0)


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The tracked files that the app and its scripts are made of."""
    folder = tmp_path_factory.mktemp("copy")
    for name in tracked("attnviz", "pages", "scripts", "pyproject.toml", ".streamlit"):
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, folder / name)
    return folder


def test_ten_sentences_of_french_are_one_file_and_one_command(copy: Path):
    assert "fr.po: 1 of" in run(copy, "-m", "scripts.languages", "update", "fr"), "its own name for itself"
    file = copy / "attnviz" / "locale" / "fr.po"
    with file.open("rb") as opened:
        catalog = pofile.read_po(opened)
    for english, french in TEN.items():
        catalog[english].string = french
    with file.open("wb") as opened:
        pofile.write_po(opened, catalog)
    assert f"fr.po: {len(TEN) + 1} of" in run(copy, "-m", "scripts.languages", "update", "fr")
    asked = run(copy, "-c", ASK).splitlines()
    assert asked[0] == "{'en': 'English', 'fr': 'français', 'zh': '中文'}"
    assert asked[1] == "Glossaire | Chercher un mot"
    assert asked[2] == "Couche 3, tête 1"
    refused = run(copy, "-m", "attnviz", "--lang", "tlh", status=2, LANGUAGE="fr_FR")
    assert "La langue tlh n’existe pas ; il y a : en, fr, zh" in refused


def test_a_fresh_clone_speaks_chinese_without_another_step(copy: Path):
    assert run(copy, "-m", "attnviz", "--help", LANGUAGE="zh_CN").startswith("用法：")
