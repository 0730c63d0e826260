"""Passes of small models without MLPs, which canvas/birth/forward.js must reproduce."""

from dataclasses import replace
from typing import Any

import numpy as np
import torch

from attnviz.core import measures
from attnviz.pages.born.maths.life import Config, forward
from attnviz.pages.born.panels.film import model_sizes
from tests.js import attend_cases

SMALL = Config(words=7, width=6, heads=2, d_head=4, length=8)


def birth_cases() -> list[dict[str, Any]]:
    """Numbers of 16 bits, words twice, and what the model makes of them."""
    rng = np.random.default_rng(32)
    cases = [
        (SMALL, (0, 3, 5), ()),
        (replace(SMALL, layers=1, heads=3), (1, 1, 2, 6), ((0, 2),)),
        (replace(SMALL, scaled=False), (4, 2), ((0, 1), (1, 0))),
        (replace(SMALL, blurred=True), (0, 1, 2, 3, 4), ()),
        (replace(SMALL, causal=False, base=7.0), (6, 5, 4), ((1, 1),)),
    ]
    return [_case(rng, *each) for each in cases]


def _case(
    rng: np.random.Generator, config: Config, words: tuple[int, ...], silenced: tuple[tuple[int, int], ...]
) -> dict[str, Any]:
    halves = attend_cases.quarters(rng, sum(rows * cols for rows, cols in config.shapes), spread=0.5).astype(np.float16)
    ids = torch.tensor([words * 2])
    logits, weights = forward(torch.from_numpy(halves).double(), ids, config, silenced)
    asked, half = logits[0, :-1], len(words)
    likely = asked.softmax(-1).gather(-1, ids[0, 1:, None])[:, 0]
    every = torch.cat([each[0] for each in weights])
    told = (measures.previous_token_mass(every).nanmean(-1), measures.induction_score(every, ids[0]).nanmean(-1))
    return {
        "sizes": model_sizes(config),
        "halves": halves.view(np.uint16).tolist(),
        "ids": ids[0].tolist(),
        "silenced": [layer * config.heads + head for layer, head in silenced],
        "weights": [_digits(each) for each in every],
        "likely": _digits(likely),
        "right": (asked.argmax(-1) == ids[0, 1:]).tolist(),
        "loss": attend_cases.digits(float(-likely[half:].log().mean()), 9),
        "scores": [[attend_cases.digits(float(x), 9) for x in pair] for pair in zip(*told, strict=True)],
    }


def _digits(values: torch.Tensor) -> list[float]:
    return [attend_cases.digits(x, 9) for x in values.flatten().tolist()]
