"""How query heads and key/value heads are laid out over the model width."""

from dataclasses import dataclass
from typing import Literal

from attnviz.base.message import Problem, require_multiple, require_whole

SharingKind = Literal["MHA", "GQA", "MQA"]


def sharing_kind(n_heads: int, n_kv_heads: int) -> SharingKind:
    """MHA when every query head has its own key/value head, MQA when all share one, GQA in between.

    One query head with one key/value head counts as MHA, because nothing is shared.
    """
    if n_kv_heads == n_heads:
        return "MHA"
    return "MQA" if n_kv_heads == 1 else "GQA"


@dataclass(frozen=True)
class HeadLayout:
    """H query heads that share G key/value heads, each `d_head` wide.

    `d_head` defaults to d_model / n_heads, `d_value` (width of one value head) to `d_head`.
    """

    d_model: int
    n_heads: int
    n_kv_heads: int | None = None
    d_head: int | None = None
    d_value: int | None = None

    def __post_init__(self) -> None:
        for name in ("d_model", "n_heads", "n_kv_heads", "d_head", "d_value"):
            value = getattr(self, name)
            if value is not None or name in ("d_model", "n_heads"):
                require_whole(name, value)
        if self.n_kv_heads is None:
            object.__setattr__(self, "n_kv_heads", self.n_heads)
        require_multiple("n_heads", self.n_heads, "n_kv_heads", self.kv_heads)
        if self.d_head is None:
            if self.d_model % self.n_heads:
                raise Problem(
                    "d_model={d_model} must be a multiple of n_heads={n_heads} when d_head is not given",
                    d_model=self.d_model,
                    n_heads=self.n_heads,
                )
            object.__setattr__(self, "d_head", self.d_model // self.n_heads)
        if self.d_value is None:
            object.__setattr__(self, "d_value", self.d_head)

    @property
    def kv_heads(self) -> int:
        """`n_kv_heads` as a plain int, for type checkers: it is always set after construction."""
        return self.n_kv_heads or self.n_heads

    @property
    def qk_width(self) -> int:
        """`d_head` as a plain int."""
        return self.d_head or self.d_model // self.n_heads

    @property
    def v_width(self) -> int:
        """`d_value` as a plain int."""
        return self.d_value or self.qk_width

    @property
    def heads_per_kv(self) -> int:
        """Number of query heads that share one key/value head: H / G."""
        return self.n_heads // self.kv_heads

    @property
    def kind(self) -> SharingKind:
        """What people call this sharing of heads."""
        return sharing_kind(self.n_heads, self.kv_heads)

    def kv_head_of(self, head: int) -> int:
        """The key/value head that query head `head` reads; neighbouring query heads share one."""
        return head // self.heads_per_kv
