"""The installed transformers still has what we lean on; and were any of it gone, its check would name it."""

import pytest
import torch
import transformers
from transformers import LlamaModel
from transformers.configuration_utils import PretrainedConfig
from transformers.masking_utils import AttentionMaskInterface
from transformers.modeling_utils import AttentionInterface
from transformers.models.llama import modeling_llama

from attnviz.base.message import Problem
from attnviz.base.undocumented_dependency import missing_dependencies
from attnviz.models.capture import Edit, adapter, adapter_check, adopt, capture, intervene, pass_with_cache
from attnviz.models.capture.adapter_check import DEPENDENCIES
from tests.models.tiny import llama, tokens

NAMED = {dependency.what: dependency for dependency in DEPENDENCIES}


@pytest.fixture(autouse=True)
def checked_afresh():
    adapter_check.require_adapter.cache_clear()
    yield
    adapter_check.require_adapter.cache_clear()


@pytest.mark.parametrize("dependency", DEPENDENCIES, ids=lambda dependency: dependency.what)
def test_the_installed_version_still_has(dependency):
    assert [str(message) for message in missing_dependencies([dependency])] == []
    with torch.device("meta"):  # whoever captures may have set another device
        assert [str(message) for message in missing_dependencies([dependency])] == []


def hidden(monkeypatch):
    """A version whose configs do not say which attention function they name."""

    def no_such(self):
        raise AttributeError(adapter.READ)

    monkeypatch.setattr(PretrainedConfig, adapter.READ, property(no_such, lambda self, value: None))


def renamed(monkeypatch):
    """A version that keeps the implementation's name in the config elsewhere."""
    monkeypatch.setattr(PretrainedConfig, adapter.READ, property(lambda self: "sdpa", lambda self, value: None))


def never_called(monkeypatch):
    """A version whose layers find their attention elsewhere."""
    theirs = AttentionInterface()["sdpa"]
    monkeypatch.setattr(AttentionInterface, "get_interface", lambda self, name, default: theirs)


def other_keywords(monkeypatch):
    """A version that calls the mask function's arguments something else."""
    registered = AttentionMaskInterface()[adapter.NAME]

    def renaming(*args, attention_mask=None, **kwargs):
        return registered(*args, padding_mask=attention_mask, **kwargs)

    monkeypatch.setitem(AttentionMaskInterface._global_mapping, adapter.NAME, renaming)


TAKEN_AWAY = {
    "PretrainedConfig._attn_implementation": hidden,
    "PretrainedConfig._attn_implementation_internal": renamed,
    "PreTrainedModel._supports_sdpa": lambda m: (
        [m.delattr(kind, "_supports_sdpa") for kind in LlamaModel.__mro__ if "_supports_sdpa" in vars(kind)]
    ),
    'AttentionInterface()["sdpa"]': lambda m: m.delitem(AttentionInterface._global_mapping, "sdpa"),
    'AttentionMaskInterface()["sdpa"]': lambda m: m.delitem(AttentionMaskInterface._global_mapping, "sdpa"),
    'AttentionMaskInterface()["eager"]': lambda m: m.delitem(AttentionMaskInterface._global_mapping, "eager"),
    "AttentionInterface.register and AttentionMaskInterface.register": lambda m: m.delitem(
        AttentionInterface._global_mapping, adapter.NAME_PLAIN
    ),
    "ALL_ATTENTION_FUNCTIONS.get_interface in its modeling files": lambda m: m.delattr(
        modeling_llama, "ALL_ATTENTION_FUNCTIONS"
    ),
    "eager_attention_forward in its modeling files": lambda m: m.delattr(modeling_llama, "eager_attention_forward"),
    "attention layers that call the registered function with module, q, k, v, mask and scaling": never_called,
    "mask functions that are given config, attention_mask, kv_length and kv_offset": other_keywords,
}


@pytest.mark.parametrize("what", NAMED)
def test_what_is_gone_is_named_with_who_uses_it_and_what_for_and_no_capture_slides_to_the_eager_path(what, monkeypatch):
    model = llama()
    TAKEN_AWAY[what](monkeypatch)
    said = [str(message) for message in missing_dependencies([NAMED[what]])]
    assert said == [
        f"transformers {transformers.__version__} no longer has {what}: "
        f"used by {NAMED[what].user} for {NAMED[what].purpose}"
    ]
    with pytest.raises(Problem, match=f"^transformers {transformers.__version__} no longer has "):
        capture(model, input_ids=tokens())


@pytest.mark.parametrize("ask", [lambda *given: intervene(given[0], Edit(silence=True), given[1]), pass_with_cache])
def test_whatever_else_listens_to_a_model_asks_first(ask, monkeypatch):
    monkeypatch.delattr(modeling_llama, "ALL_ATTENTION_FUNCTIONS")
    with pytest.raises(Problem, match="no longer has ALL_ATTENTION_FUNCTIONS"):
        ask(llama(), tokens(1))


def test_a_model_that_was_refused_is_left_as_it_was(monkeypatch):
    model = llama()
    with monkeypatch.context() as changed:
        renamed(changed)
        with pytest.raises(Problem, match="LlamaConfig no longer takes the name of an attention function"):
            adopt(model)
    assert len(capture(model, input_ids=tokens()).layers) == 2


def test_checking_draws_no_random_number():
    torch.manual_seed(3)
    expected = torch.rand(1)
    torch.manual_seed(3)
    adapter_check.require_adapter()
    assert torch.equal(torch.rand(1), expected)
