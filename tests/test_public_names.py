"""What `import attnviz as av` offers and loads: public names only, each with words of its own and a short repr."""

import inspect
import pydoc
import subprocess
import sys
from pathlib import Path

import pytest
import torch

import attnviz as av
from attnviz.base import extras
from attnviz.models.catalogue import ModelEntry
from scripts import api_page
from tests.models.tiny import llama, tokens


def test_importing_it_loads_nothing() -> None:
    ask = "import sys, attnviz\nprint({'torch', 'numpy', 'transformers', 'plotly', 'streamlit'} & sys.modules.keys())"
    root = Path(__file__).parents[1]
    done = subprocess.run([sys.executable, "-c", ask], cwd=root, capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"


def test_a_name_that_it_does_not_have_is_answered_with_the_nearest_one() -> None:
    with pytest.raises(AttributeError, match=r"no attribute 'captures'; did you mean capture\?"):
        _ = av.captures  # type: ignore[attr-defined]
    with pytest.raises(AttributeError, match=r"help\(av\) lists the names"):
        _ = av.qqqqqq  # type: ignore[attr-defined]


def test_help_is_one_page_with_every_name_and_the_page_of_the_documentation_is_current() -> None:
    page = pydoc.plain(pydoc.render_doc(av))
    assert len(page.splitlines()) <= 200
    assert [name for name in dir(av) if name not in page] == []
    assert {"RecordedLayer", "HeadTable", "LogitAttribution", "NotebookView", "LoadedModel", "Problem"} <= set(dir(av))
    assert api_page.page() == api_page.PAGE.read_text("utf-8"), "python -m scripts.api_page writes it anew"


@pytest.mark.parametrize("name", dir(av))
def test_each_says_what_it_is_and_so_do_its_methods(name: str) -> None:
    what = getattr(av, name)
    assert inspect.getdoc(what)
    members = vars(what).items() if inspect.isclass(what) else ()
    silent = [each for each, member in members if not each.startswith("_") and inspect.isroutine(member)]
    assert [each for each in silent if not inspect.getdoc(getattr(what, each))] == []


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


def test_a_repr_takes_a_few_lines() -> None:
    model, one, two = llama(vocab_size=5000), tokens()[:1], tokens(seed=3)[:1]
    trace = av.capture(model, one, residual=True)
    loaded = av.LoadedModel(model, None, ModelEntry(id="tiny", name="tiny", hub=None), "folder")
    edit = av.Edit(0, (1, 2), mask=torch.ones(7, 7).bool(), output=trace, at=[3])
    assert repr(edit) == "Edit(layers=0, heads=(1, 2), mask=tensor(7, 7), output=<Trace>, at=[3])"
    assert repr(loaded) == "<LoadedModel tiny: LlamaForCausalLM, 2 layers of 6 heads>"
    for each in (
        *(edit, loaded, trace, trace[0], av.show(trace), trace.logit_attribution(3), trace[0].stages()),
        trace.logit_lens([3, 4], n=50),
        trace.logit_lens(n=0),
        av.attribution_patching(model, one, two, av.logit_diff(7, 11)),
        av.find_circuit(model, one, two, av.logit_diff(7, 11)),
        av.head_circuits(model, 0, 0),
        av.composition_scores(model),
    ):
        assert len(repr(each)) < 500, repr(each)
