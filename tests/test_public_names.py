"""What `import attnviz as av` offers: public names only, each with words of its own and a repr of a few lines."""

import inspect

import pytest
import torch

import attnviz as av
from attnviz.models.catalogue import ModelEntry
from tests.models.tiny import llama, tokens


def test_its_names_are_those_of_the_page_and_nothing_else() -> None:
    assert dir(av) == sorted({name for modules in av.TASKS.values() for names in modules.values() for name in names})
    for name in ("RecordedLayer", "HeadTable", "LogitAttribution", "NotebookView", "LoadedModel", "Problem"):
        assert name in dir(av)


@pytest.mark.parametrize("name", dir(av))
def test_each_says_what_it_is_and_so_do_its_methods(name: str) -> None:
    what = getattr(av, name)
    assert inspect.getdoc(what)
    members = vars(what).items() if inspect.isclass(what) else ()
    silent = [each for each, member in members if not each.startswith("_") and inspect.isroutine(member)]
    assert [each for each in silent if not inspect.getdoc(getattr(what, each))] == []


def test_a_repr_takes_a_few_lines() -> None:
    model = llama()
    trace = av.capture(model, tokens(), residual=True)
    loaded = av.LoadedModel(model, None, ModelEntry(id="tiny", name="tiny", hub=None), "folder")
    edit = av.Edit(0, (1, 2), mask=torch.ones(7, 7).bool(), output=trace, at=[3])
    assert repr(edit) == "Edit(layers=0, heads=(1, 2), mask=tensor(7, 7), output=<Trace>, at=[3])"
    assert repr(loaded) == "<LoadedModel tiny: LlamaForCausalLM, 2 layers of 6 heads>"
    for each in (edit, loaded, trace, trace[0], av.show(trace), trace.logit_attribution(3), trace[0].stages()):
        assert len(repr(each)) < 500, repr(each)


def test_a_repr_of_an_analysis_fits_a_few_lines() -> None:
    model, one, two = llama(vocab_size=5000), tokens()[:1], tokens(seed=3)[:1]
    trace = av.capture(model, one, residual=True)
    for each in (
        trace.logit_lens([3, 4], n=50),
        trace.logit_lens(n=0),
        av.attribution_patching(model, one, two, av.logit_diff(7, 11)),
        av.find_circuit(model, one, two, av.logit_diff(7, 11)),
        av.head_circuits(model, 0, 0),
        av.composition_scores(model),
    ):
        assert len(repr(each)) < 500, repr(each)
