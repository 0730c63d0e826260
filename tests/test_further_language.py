"""A further language, tried: French on ten sentences, by one file and one command, in a copy of the repository."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from babel.messages import pofile
from babel.messages.catalog import Catalog

from scripts.words import ROOT
from tests.tracked import tracked

pytestmark = pytest.mark.slow

TEN = {
    "English": "français",  # its own name for itself
    "Glossary": "Glossaire", "Start": "Accueil", "Masks": "Masques", "Lessons": "Leçons",
    "What is attention?": "Qu’est-ce que l’attention ?", "Find a word": "Chercher un mot",
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
from attnviz.command.command_line import main
sys.argv = ["attnviz", "--lang", "tlh"]
print(main(), flush=True)
"""


def run(folder: Path, *arguments: str, **more: str) -> str:
    """What a Python in the copy prints, and says of what went wrong."""
    env = os.environ | {"PYTHONPATH": str(folder), "PYTHONIOENCODING": "utf-8"} | more
    done = subprocess.run(
        [sys.executable, *arguments], cwd=folder, env=env, capture_output=True, encoding="utf-8", check=False
    )
    assert done.returncode == 0, done.stderr + done.stdout
    return done.stdout + done.stderr


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """The tracked files that the app and its scripts are made of."""
    for name in tracked("attnviz", "pages", "scripts", "pyproject.toml", ".streamlit"):
        if (ROOT / name).is_file():
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, tmp_path / name)
    return tmp_path


def test_ten_sentences_of_french_are_one_file_and_one_command(copy: Path):
    catalog = Catalog("fr")
    for english, french in TEN.items():
        catalog.add(english, french)
    with (copy / "attnviz" / "locale" / "fr.po").open("wb") as file:
        pofile.write_po(file, catalog)
    assert f"fr.po: {len(TEN)} of" in run(copy, "-m", "scripts.languages", "update", "fr")
    languages, page, label, status, *_, refused = run(copy, "-c", ASK, LANGUAGE="fr_FR").splitlines()
    assert languages == "{'en': 'English', 'fr': 'français', 'zh': '中文'}"
    assert page == "Glossaire | Chercher un mot"
    assert label == "Couche 3, tête 1"
    assert (status, refused) == ("2", "attnviz: La langue tlh n’existe pas ; il y a : en, fr, zh")
