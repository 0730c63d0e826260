"""A run token by token as the step player takes it: each step, and the tensors of one head."""

from __future__ import annotations

from attnviz.experiments.decoding import token_by_token
from attnviz.ui.canvas import step_player


def steps_of(result: token_by_token.Result) -> list[step_player.PlayedStep]:
    """What each step processed, cost and could have written."""
    return [
        step_player.PlayedStep(
            step.context,
            (step.cached.tokens, step.anew.tokens),
            (step.cached.flops, step.anew.flops),
            (step.cached.seconds, step.anew.seconds),
            step.difference,
            tuple(map(sum, step.layer_bytes)),
            [(each.label, each.probability, each.chosen) for each in step.alternatives],
        )
        for step in result.steps
    ]


def film_of(result: token_by_token.Result, layer: int, head: int) -> step_player.HeadFilm:
    """Queries, output and weights of a query head, with the keys and values that it reads."""
    held = result.layers[layer]
    shared = held.kv_head_of(head)
    return step_player.HeadFilm(held.q[head], held.k[shared], held.v[shared], held.output(head), held.weights[head])
