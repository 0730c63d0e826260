"""One pair of numbers of a query and of a key, turned by their positions: what the browser draws on a circle."""

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from attnviz.base.limits import require_between
from attnviz.core.rope import RoPE, frequencies
from attnviz.runs.word_vectors import drawn


@dataclass(frozen=True)
class Config:
    width: int = 64  #: D
    base: float = 10_000.0
    pair: int = 0
    q_at: int = 12  #: the query's position
    k_at: int = 4  #: the key's position
    seed: int = 0


@dataclass(frozen=True)
class Result:
    config: Config
    turns: np.ndarray  #: (D/2,) radians per position
    q: np.ndarray  #: (D/2, 2) the query's pairs before they are turned
    k: np.ndarray  #: (D/2, 2)
    angle: float  #: radians by which the chosen pair of the key is turned relative to the query's
    q_turned: np.ndarray  #: (2,) the chosen pair, turned
    k_turned: np.ndarray
    product: float  #: what the chosen pair adds to q.k
    score: float  #: q.k over all pairs
    unturned: float  #: q.k over all pairs, before anything is turned


def run(config: Config) -> Result:
    """A random query and a random key, turned."""
    q, k = drawn(config.seed, 2, config.width).double()
    return of(config, q, k)


def of(config: Config, q: Tensor, k: Tensor) -> Result:
    """This query and this key, pairs interleaved, turned by core's own rotation."""
    turns = frequencies(config.width, config.base)
    require_between("pair", config.pair, 0, len(turns) - 1)
    rope = RoPE(base=config.base, pairing="interleaved")
    q_turned, k_turned = (
        rope.rotate(x[None, None], torch.tensor([at]))[0, 0] for x, at in ((q, config.q_at), (k, config.k_at))
    )
    here = slice(2 * config.pair, 2 * config.pair + 2)
    return Result(
        config,
        turns.numpy(),
        q.reshape(-1, 2).numpy(),
        k.reshape(-1, 2).numpy(),
        float(turns[config.pair]) * (config.k_at - config.q_at),
        q_turned[here].numpy(),
        k_turned[here].numpy(),
        float(q_turned[here] @ k_turned[here]),
        float(q_turned @ k_turned),
        float(q @ k),
    )


def program(config: Config) -> str:
    """Prints the pair's part of q.k and the whole of it, with pairs as complex numbers: turning is a multiplication."""
    return f"""\
import torch
from attnviz.core.rope import frequencies

D, base, pair, m, n = {config.width}, {config.base!r}, {config.pair}, {config.q_at}, {config.k_at}
q, k = torch.randn(2, D, generator=torch.Generator().manual_seed({config.seed})).double()
q, k = (torch.view_as_complex(x.reshape(-1, 2)) for x in (q, k))  # each pair is one complex number
theta = frequencies(D, base)

q_m, k_n = (x * torch.polar(torch.ones_like(theta), at * theta) for x, at in ((q, m), (k, n)))
products = (q_m * k_n.conj()).real  # each pair's part of q.k
product, score, unturned = products[pair].item(), products.sum().item(), (q * k.conj()).real.sum().item()
print(f"pair {{pair}} turns by {{theta[pair]:.4g}} rad per position, {{((n - m) * theta[pair]).item():.4g}} rad in all")
print(f"its part of q.k: {{product:.4g}}; all pairs: {{score:.4g}}, and {{unturned:.4g}} before they are turned")
"""
