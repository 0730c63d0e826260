"""`import attnviz as av`: what it gives, and what it does not load."""

import pydoc
import subprocess
import sys
from pathlib import Path

import pytest

import attnviz as av
from attnviz.base import extras

ROOT = Path(__file__).parents[1]


def test_importing_it_loads_nothing() -> None:
    ask = "import sys, attnviz\nprint({'torch', 'numpy', 'transformers', 'plotly', 'streamlit'} & sys.modules.keys())"
    done = subprocess.run([sys.executable, "-c", ask], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"


def test_a_name_that_it_does_not_have_is_answered_with_the_nearest_one() -> None:
    with pytest.raises(AttributeError, match=r"no attribute 'captures'; did you mean capture\?"):
        _ = av.captures  # type: ignore[attr-defined]
    with pytest.raises(AttributeError, match=r"help\(av\) lists the names"):
        _ = av.qqqqqq  # type: ignore[attr-defined]


def test_help_is_one_page_with_every_name() -> None:
    page = pydoc.plain(pydoc.render_doc(av))
    assert len(page.splitlines()) <= 200
    assert [name for name in dir(av) if name not in page] == []


@pytest.mark.parametrize("old, now", [("silence", "ablate"), ("exact_patching", "activation_patching")])
def test_a_name_of_the_version_before_is_still_answered(old: str, now: str) -> None:
    with pytest.warns(DeprecationWarning, match=f"av.{old} is called av.{now} now"):
        assert callable(getattr(av, old))
    assert old not in dir(av)


def test_without_the_package_of_its_pictures_a_plot_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.split(".")[0] == "plotly" or "attnviz.figures" in name]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "plotly", None)
    with pytest.raises(ImportError, match=r"A plot needs plotly.*pip install 'attnviz\["):
        extras.load_figures("heatmap")
