"""Multi-head latent attention (MLA) as the two machines it is: expanded to heads, or absorbed into the queries.

Both give the same numbers. Keys and values are made from a latent of width R (and one rotary key of width P
shared by all heads); only these R + P numbers need caching. Expanded: the latent is multiplied up to per-head keys
and values. Absorbed: the matrix that does so is moved to the query's side, and attention runs on latents.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from fractions import Fraction
from typing import Literal

from attnviz.core.costs import Flops, Parameters
from attnviz.core.heads import HeadLayout
from attnviz.core.message import Problem
from attnviz.core.precision import bits

#: expanded: per-head K and V are cached. absorbed: latents cached, never expanded.
#: re-expanded: latents cached, all of them expanded again at every step (what transformers does).
LatentForm = Literal["expanded", "absorbed", "re-expanded"]


@dataclass(frozen=True)
class LatentLayout:
    """The widths of MLA; `q_rank` None when queries are made directly."""

    d_model: int
    n_heads: int
    q_rank: int | None
    kv_rank: int  #: R
    d_nope: int  #: of a query or key, the part without rotation
    d_rope: int  #: P
    d_value: int

    def __post_init__(self) -> None:
        for f in fields(self):
            value = getattr(self, f.name)
            if f.name == "q_rank" and value is None:
                continue
            least = 0 if f.name in ("d_rope", "d_nope") else 1
            if not isinstance(value, int) or isinstance(value, bool) or value < least:
                raise Problem(
                    "{name}={value} must be a whole number of at least {least}", name=f.name, value=value, least=least
                )

    @property
    def expanded(self) -> HeadLayout:
        """The multi-head attention it unfolds to: keys nope + rope wide, values d_value."""
        return HeadLayout(self.d_model, self.n_heads, self.n_heads, self.d_nope + self.d_rope, self.d_value)

    @property
    def absorbed(self) -> HeadLayout:
        """The multi-query attention it folds to: one key R + P wide, whose first R numbers are also the value."""
        return HeadLayout(self.d_model, self.n_heads, 1, self.kv_rank + self.d_rope, self.kv_rank)


def latent_parameters(layout: LatentLayout) -> Parameters:
    """Q: M*r + r + r*H*(nope+rope), or M*H*(nope+rope); K/V: M*(R+P) + R + R*H*(nope+v); O: H*v*M."""
    m, h, r, q_rank = layout.d_model, layout.n_heads, layout.kv_rank, layout.q_rank
    q_width = h * (layout.d_nope + layout.d_rope)
    return Parameters(
        w_q=m * q_width if q_rank is None else q_rank * (m + q_width),
        w_k=r * h * layout.d_nope,
        w_v=r * h * layout.d_value,
        w_o=h * layout.d_value * m,
        w_down=m * (r + layout.d_rope),
        norms=r + (q_rank or 0),
    )


def latent_elements(layout: LatentLayout, machine: LatentForm = "absorbed") -> int:
    """Numbers one token leaves in one layer's cache: R + P, or H*(nope + rope + v) when per-head K and V are kept."""
    if machine == "expanded":
        return layout.n_heads * (layout.d_nope + layout.d_rope + layout.d_value)
    return layout.kv_rank + layout.d_rope


def latent_flops(layout: LatentLayout, new_tokens: int, context: int, n_pairs: int, machine: LatentForm) -> Flops:
    """FLOPs for `new_tokens` tokens at the end of `context`, looking at `n_pairs` keys in all.

    Multiplying up costs 2*R*H*(nope+v) per token. It falls on the new tokens (expanded), on the whole context
    (re-expanded) or, the same number of times as in expanded, on queries and outputs (absorbed).
    """
    count, shape = latent_parameters(layout), layout.absorbed if machine == "absorbed" else layout.expanded
    up = count.w_k + count.w_v
    times = context if machine == "re-expanded" else new_tokens
    per_pair = 2 * layout.n_heads * n_pairs
    projections = 2 * new_tokens * (count.matrices - up) + 2 * times * up
    return Flops(projections, per_pair * shape.qk_width, per_pair * shape.v_width)


def latent_intensity(layout: LatentLayout, machine: LatentForm = "absorbed", dtype: str = "bfloat16") -> Fraction:
    """FLOPs of decode attention, scores and values, per byte of cache read."""
    work = latent_flops(layout, 1, 1, 1, machine)
    return Fraction(work.scores + work.values) / (latent_elements(layout, machine) * bits(dtype) / 8)
