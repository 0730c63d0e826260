"""What is read and written does not depend on the letters that a machine's locale knows."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
#: a locale of plain English letters; Python would take UTF-8 for it unasked, as it does for none of Latin-1
ASCII = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}


def said(*arguments: str | Path, **more: str) -> str:
    """What a Python in such a locale prints."""
    env = os.environ | ASCII | {"PYTHONPATH": str(ROOT)} | more
    env.pop("PYTHONIOENCODING", None)
    told = subprocess.run([sys.executable, *arguments], env=env, capture_output=True, encoding="utf-8", check=False)
    assert told.returncode == 0, told.stderr
    return told.stdout.strip()


def test_the_name_of_a_font_may_be_chinese(tmp_path):
    ask = tmp_path / "fc-match"
    ask.write_text("#!/bin/sh\necho 文泉驿微米黑\n", "utf-8")
    ask.chmod(0o700)
    program = "from attnviz.base import rasterised as r; print(ascii(r._font_for(r.CHINESE_TEXT)))"
    assert said("-c", program, PATH=str(tmp_path)) == ascii("文泉驿微米黑")


def test_sentences_are_looked_for_in_code_of_any_letters(tmp_path):
    page = tmp_path / "page.py"
    page.write_text('st.write(f"{a} · {b}")\n', "utf-8")
    program = "import sys, pathlib; from scripts.words import missed; print(missed(pathlib.Path(sys.argv[1])))"
    assert said("-c", program, page) == "[]"


def test_help_in_letters_that_the_locale_lacks_is_no_fault():
    assert "attnviz" in said("-m", "attnviz", "--lang", "zh", "--help")
