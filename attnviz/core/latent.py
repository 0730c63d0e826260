"""Multi-head latent attention (MLA) in its two equivalent forms: expanded to heads, or absorbed into the queries.

Both compute the same output. Keys and values come from a latent of width R, plus one rotary key of width P
that all heads share; only these R + P numbers per token need caching. Expanded: an up-projection turns the
latents into keys and values of each head. Absorbed: that up-projection is applied to queries and outputs
instead, and attention runs on the latents themselves.
"""

from dataclasses import dataclass, fields
from fractions import Fraction

from attnviz.base.message import require_whole
from attnviz.core.costs import Flops, Form, Parameters
from attnviz.core.heads import HeadLayout
from attnviz.core.precision import bits_per_number


@dataclass(frozen=True)
class LatentLayout:
    """The widths of MLA. `q_rank` is the width of the query latent, None when queries are projected directly."""

    d_model: int
    n_heads: int
    q_rank: int | None
    kv_rank: int  #: R, width of the key/value latent
    d_nope: int  #: width of the part of a query or key that is not rotated
    d_rope: int  #: P, width of the rotated part
    d_value: int

    def __post_init__(self) -> None:
        for f in fields(self):
            value = getattr(self, f.name)
            if f.name != "q_rank" or value is not None:
                require_whole(f.name, value, 0 if f.name in ("d_rope", "d_nope") else 1)

    @property
    def expanded(self) -> HeadLayout:
        """The equivalent multi-head attention: keys are d_nope + d_rope wide, values d_value."""
        return HeadLayout(self.d_model, self.n_heads, self.n_heads, self.d_nope + self.d_rope, self.d_value)

    @property
    def absorbed(self) -> HeadLayout:
        """The equivalent multi-query attention: one key R + P wide, whose first R numbers are also the value."""
        return HeadLayout(self.d_model, self.n_heads, 1, self.kv_rank + self.d_rope, self.kv_rank)

    @property
    def name(self) -> str:
        """What people call it."""
        return "MLA"

    @property
    def parameters(self) -> Parameters:
        """Parameters of a layer, norms of the latents included.

        With r = `q_rank`, nope = `d_nope`, rope = P = `d_rope` and v = `d_value`. Q: M*r + r + r*H*(nope+rope), or
        M*H*(nope+rope) when `q_rank` is None. K and V: M*(R+P) + R + R*H*(nope+v). O: H*v*M.
        """
        m, h, r, q_rank = self.d_model, self.n_heads, self.kv_rank, self.q_rank
        q_width = h * (self.d_nope + self.d_rope)
        return Parameters(
            w_q=m * q_width if q_rank is None else q_rank * (m + q_width),
            w_k=r * h * self.d_nope,
            w_v=r * h * self.d_value,
            w_o=h * self.d_value * m,
            w_down=m * (r + self.d_rope),
            norms=r + (q_rank or 0),
        )

    def elements(self, machine: Form = "absorbed") -> int:
        """Numbers that one token adds to one layer's cache: R + P, or H*(d_nope + d_rope + d_value) when expanded."""
        if machine == "expanded":
            return self.n_heads * (self.d_nope + self.d_rope + self.d_value)
        return self.kv_rank + self.d_rope

    def flops(self, new_tokens: int, context: int, n_pairs: int, machine: Form) -> Flops:
        """FLOPs for `new_tokens` tokens at the end of `context` tokens, with `n_pairs` (query, key) pairs.

        The up-projection costs 2*R*H*(d_nope + d_value) FLOPs per token it is applied to: the new tokens
        (expanded), the whole context (re-expanded), or the new tokens' queries and outputs (absorbed).
        """
        count, shape = self.parameters, self.absorbed if machine == "absorbed" else self.expanded
        up = count.w_k + count.w_v
        times = context if machine == "re-expanded" else new_tokens
        per_pair = 2 * self.n_heads * n_pairs
        projections = 2 * new_tokens * (count.matrices - up) + 2 * times * up
        return Flops(projections, per_pair * shape.qk_width, per_pair * shape.v_width)

    def intensity(self, machine: Form = "absorbed", dtype: str = "bfloat16") -> Fraction:
        """FLOPs of decoding attention (scores and values) per byte of cache read."""
        work = self.flops(1, 1, 1, machine)
        return Fraction(work.scores + work.values) / (self.elements(machine) * bits_per_number(dtype) / 8)
