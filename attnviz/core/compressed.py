"""A cache of something smaller than the keys and values of heads: what every such attention says of itself."""

from typing import Literal, Protocol

from attnviz.core.costs import Flops, Parameters
from attnviz.core.heads import HeadLayout

#: expanded: keys and values of each head are cached. absorbed: what is smaller is cached and never expanded.
#: re-expanded: it is cached, and all of it is expanded again at every step (as transformers does).
Form = Literal["expanded", "absorbed", "re-expanded"]


class Compressed(Protocol):
    """Attention that makes keys and values of every head from fewer numbers a token: MLA from a latent."""

    @property
    def name(self) -> str:
        """What people call it."""

    @property
    def expanded(self) -> HeadLayout:
        """The equivalent multi-head attention."""

    @property
    def parameters(self) -> Parameters:
        """Parameters of a layer."""

    def elements(self, machine: Form = "absorbed") -> int:
        """Numbers that one token adds to one layer's cache."""

    def flops(self, new_tokens: int, context: int, n_pairs: int, machine: Form) -> Flops:
        """FLOPs for `new_tokens` tokens at the end of `context` tokens, with `n_pairs` (query, key) pairs."""
