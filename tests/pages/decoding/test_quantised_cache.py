import copy

import numpy as np
import pytest
import torch

from attnviz.core.precision import dequantise, quantise, stored_bytes
from attnviz.pages.decoding.maths import decoders, quantised_cache
from attnviz.pages.decoding.maths.quantised_cache import CHANNEL_TOKENS
from tests.pages.decoding.conftest import core_cache_bytes, of_family

TEXT = "the cat sat on the mat, don't you think the cat's hat is nice? one two three, and so on" * 2


def rounded_for_real(reading, bits, axis):
    """One token a pass through transformers' cache, whose tensors are rounded once they are to be stored."""
    model, cache, logits = reading.decoder.loaded.model, copy.deepcopy(reading.cache), []
    exact = [(layer.keys.clone(), layer.values.clone()) for layer in cache.layers]
    for position in range(reading.prompt, reading.total):
        for layer, (k, v) in zip(cache.layers, exact, strict=True):
            layer.keys, layer.values = _keys(k[0], bits, axis)[None], _rough(v[0], bits)[None]
        with torch.no_grad():
            made = model(torch.tensor([[reading.ids[position]]]), past_key_values=cache)
        logits.append(made.logits[0, -1])
        exact = [
            (torch.cat([k, layer.keys[:, :, -1:]], 2), torch.cat([v, layer.values[:, :, -1:]], 2))
            for (k, v), layer in zip(exact, cache.layers, strict=True)
        ]
    return torch.stack(logits)


def _rough(x, bits):
    return dequantise(quantise(x, bits, x.shape[-1]))


def _keys(k, bits, axis):
    if axis == "token":
        return _rough(k, bits)
    full = k.shape[1] // CHANNEL_TOKENS * CHANNEL_TOKENS
    groups = [_rough(part.mT.contiguous(), bits).mT for part in k[:, :full].split(CHANNEL_TOKENS, 1) if part.numel()]
    return torch.cat([*groups, k[:, full:]], 1)


@pytest.mark.parametrize("family", ["llama", "gpt2"])
@pytest.mark.parametrize("bits, axis", quantised_cache.FORMATS)
def test_the_error_is_that_of_a_cache_that_is_really_rounded_token_by_token(family, bits, axis):
    reading = decoders.read(of_family(family), TEXT)
    found = quantised_cache.read_with_rounding(reading, bits, axis)
    real = decoders.compare_predictions(reading, rounded_for_real(reading, bits, axis))
    assert np.allclose(found.shift.largest, real.largest, atol=5e-3, rtol=5e-3)
    assert np.allclose(found.shift.kl, real.kl, atol=1e-3, rtol=1e-2)


def test_bytes_are_those_of_the_formula():
    decoder = of_family("core")
    *_partial, found = quantised_cache.run(decoder, TEXT)
    assert 2 * found.half_bytes == core_cache_bytes(len(found.labels))  # which is float32
    numbers = found.half_bytes // 2
    for made in found.formats:
        if made.axis == "token":
            assert made.nbytes == stored_bytes(numbers, f"int{made.bits}", made.group)
