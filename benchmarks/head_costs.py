"""The cost of every head, against a loop that runs the whole model once for each head, as a ratio of CPU time.

    python -m benchmarks.head_costs                      # SmolLM2 on 2 x 64 tokens, two layers as far from the middle
    python -m benchmarks.head_costs --layers 2 7 12 17 22 27

Both are measured on all heads of the layers given, whose mean depth must be the middle of the model, and agree to
rounding, which is checked. What is done once for all heads of a model is charged in that proportion.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from attnviz.models.capture import ResumedPass
from attnviz.models.loading import load
from attnviz.runs.heads.removal_costs import costs_in_layer, targets
from benchmarks.measuring import machine


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--layers", type=int, nargs="+", default=[7, 22])
    parser.add_argument("--sentences", type=int, default=2)
    parser.add_argument("--tokens", type=int, default=64)
    given = parser.parse_args()
    torch.set_num_threads(1)
    model = load("smollm2-135m").model.eval()
    ids = torch.randint(100, 40_000, (given.sentences, given.tokens), generator=torch.Generator().manual_seed(0))
    heads, depth = model.config.num_attention_heads, model.config.num_hidden_layers
    assert 2 * sum(given.layers) == len(given.layers) * (depth - 1), "the layers' mean must be the middle of the model"
    with torch.no_grad():
        model(ids)  # the first pass of a process is slower
    started, once = timed(lambda: ResumedPass(model, input_ids=ids))
    base = loss(model, ids)
    ours = theirs = 0.0
    for layer in given.layers:
        found, spent = timed(partial(costs_in_layer, started, layer, base, *targets({"input_ids": ids})))
        expected, whole = timed(partial(naive, model, layer, heads, ids))
        torch.testing.assert_close(found, expected - base[:, None], atol=1e-4, rtol=1e-3)
        ours, theirs = ours + spent, theirs + whole
    ours += once * len(given.layers) / depth
    print(f"{given.sentences} x {given.tokens} tokens, layers {given.layers}, {heads} heads each, on {machine()}")
    count = heads * len(given.layers)
    print(f"one pass a head: {theirs / count:.2f} s   resumed: {ours / count:.2f} s   ratio {theirs / ours:.2f}")


def timed(call: Callable[[], Any]) -> tuple[Any, float]:
    start = time.process_time()
    made = call()
    return made, time.process_time() - start


def naive(model: Any, layer: int, heads: int, ids: Tensor) -> Tensor:
    """The loss of each sentence without each head, (B, H): a hook and a whole pass for each."""
    projection = model.model.layers[layer].self_attn.o_proj
    width, found = projection.in_features // heads, []
    for head in range(heads):

        def silence(module: nn.Module, given: tuple[Tensor], head: int = head) -> tuple[Tensor]:
            made = given[0].clone()
            made[..., head * width : (head + 1) * width] = 0
            return (made,)

        hook = projection.register_forward_pre_hook(silence)
        found.append(loss(model, ids))
        hook.remove()
    return torch.stack(found, 1)


def loss(model: nn.Module, ids: Tensor) -> Tensor:
    """Mean loss of the next token in each sentence, (B,)."""
    with torch.no_grad():
        scores = model(ids, use_cache=False).logits
    lost = F.cross_entropy(scores[:, :-1].transpose(1, 2), ids[:, 1:], reduction="none")
    return lost.mean(1)


if __name__ == "__main__":
    main()
