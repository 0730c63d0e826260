import copy

import numpy as np
import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode

from attnviz.models.architecture import Architecture
from attnviz.pages.decoding.maths import token_by_token
from attnviz.pages.decoding.maths.prefill_and_decode import pass_flops
from attnviz.pages.decoding.maths.token_by_token import Config
from tests.pages.decoding.conftest import core_cache_bytes, largest_difference, of_family

TEXT = "hello, the cache"


def last(decoder, config):
    *_partial, whole = token_by_token.run(decoder, config)
    return whole


def test_with_a_cache_and_without_the_logits_are_the_same(decoder):
    found = last(decoder, Config(TEXT, 6))
    assert found.done
    assert all(step.same_choice for step in found.steps)
    scale = max(step.largest_logit for step in found.steps)
    assert largest_difference(found) < 1e-4 * max(scale, 1)
    prompt = len(found.prompt.ids)
    assert [step.cached.tokens for step in found.steps] == [prompt, 1, 1, 1, 1, 1]
    assert [step.uncached.tokens for step in found.steps] == [prompt + n for n in range(6)]
    assert len(found.labels) == prompt + 6


@pytest.mark.parametrize("family", ["llama", "gpt2", "mistral", "gemma2"])
def test_tokens_are_those_that_transformers_own_generation_writes(family):
    decoder = of_family(family)
    found = last(decoder, Config(TEXT, 5))
    ids = torch.tensor([found.prompt.ids])
    written = decoder.loaded.model.generate(ids, max_new_tokens=5, do_sample=False, eos_token_id=None)
    assert [step.token for step in found.steps] == written[0, ids.shape[1] :].tolist()


def test_rows_of_attention_and_the_output_are_those_of_one_full_pass(decoder):
    found = last(decoder, Config(TEXT, 4))
    ids = (*found.prompt.ids, *(step.token for step in found.steps[:-1]))
    whole = decoder.process(ids, keep=False)
    for mine, theirs in zip(found.layers, whole.layers, strict=True):
        assert np.abs(mine.weights - theirs.weights()[0].numpy()).max() < 1e-4
        assert np.abs(mine.k - theirs.k[0].numpy()).max() < 1e-4
        every = list(range(theirs.n_heads))
        output = theirs.stages_of(every).output[0].numpy()
        assert np.abs(np.stack([mine.output(head) for head in every]) - output).max() < 1e-3


def test_bytes_in_the_cache_are_those_of_the_architecture_layer_by_layer(decoder):
    found = last(decoder, Config(TEXT, 4))
    if not hasattr(decoder, "loaded"):
        assert found.steps[-1].cache_bytes == core_cache_bytes(found.context)
        return
    arch = Architecture.from_config(decoder.loaded.model.config)
    for step in found.steps[1:]:  # the first pass returns whole prompts; windows are cut as the next token comes
        expected = [held for _layer, held in arch.bytes_by_layer(step.context, dtype="float32")]
        if arch.layers[0].window is None and arch.layers[-1].window is None:
            assert [sum(pair) for pair in step.layer_bytes] == expected
        else:
            assert all(sum(pair) >= held for pair, held in zip(step.layer_bytes, expected, strict=True))


@pytest.mark.parametrize("new, before", [(1, 0), (9, 0), (1, 7), (4, 5)])
def test_flops_are_those_that_torch_counts(without_window, new, before):
    """Against a pass whose attention is two matrix products, which is what torch's counter sees."""
    ids = without_window.read(TEXT).ids
    cache = without_window.process(ids[:before]).cache if before else None
    if hasattr(without_window, "loaded"):
        plain = without_window.loaded.model
        implementation = plain.config._attn_implementation
        plain.set_attn_implementation("eager")
        with FlopCounterMode(display=False) as counter, torch.no_grad():
            given = torch.tensor([ids[before : before + new]])
            plain(given, past_key_values=copy.deepcopy(cache) if cache else None, logits_to_keep=1)
        plain.set_attn_implementation(implementation)
        counted = counter.get_total_flops()
    else:
        with FlopCounterMode(display=False) as counter:
            without_window.process(ids[before : before + new], copy.deepcopy(cache) if cache else None)
        _body, head = without_window.count_matrix_entries()
        counted = counter.get_total_flops() - 2 * (new - 1) * head  # the core's head is applied to every token
    made = without_window.process(ids[before : before + new], cache)
    assert pass_flops(without_window, made.layers, new) == counted
