"""One recorded attention layer: enough to compute any head under any mask or scale."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any, Literal, cast

import torch
from torch import Tensor

from attnviz.base.message import Message, Problem
from attnviz.core.attention import Scale, Stages, attend, grouped_matmul, scale_factor
from attnviz.models.capture.head_selection import broadcasts_to, resolve_heads, select_heads, to_float32
from attnviz.models.capture.output_projection import head_slices, value_lengths

StackName = Literal["encoder", "decoder"]
AttentionKind = Literal["self", "cross"]
LayerKey = tuple[str, StackName, AttentionKind, int, int]  #: tower, stack, kind, index and run
MaskChoice = Tensor | Literal["model"] | None
ScaleChoice = Scale | Literal["model"]

#: most scores in memory at once while weights are computed; a long sequence is computed one head at a time
CHUNK = 1 << 24

_ALL = slice(None)


@dataclass(frozen=True, eq=False, repr=False)
class RecordedLayer:
    """The inputs of one attention call. Tensors are shared with the forward pass, never copied.

    q (B, H, Q, D), k (B, G, K, D), v (B, G, K, Dv). A layer that is not `exact` has no usable q, k
    and v, only the weights that the model itself reported (`reported`).
    """

    stack: StackName
    kind: AttentionKind
    index: int  #: counts from 0 among the layers of the same tower, stack and kind, in execution order
    name: str  #: the module's dotted name in the model
    scale: float  #: the number that the model multiplies q.kT by, not always 1/sqrt(D)
    q: Tensor | None = None
    k: Tensor | None = None
    v: Tensor | None = None
    allowed: Tensor | None = None  #: boolean, broadcasts to (B, H, Q, K); with None only `causal` hides keys
    causal: bool = False  #: query i sees keys 0..i; only when `allowed` is None
    blocked: Tensor | None = None  #: (n, 3): head, query and key of cells that an intervention hid besides
    padding: Tensor | None = None  #: boolean (B, 1, 1, K), False at padding keys, which stay hidden under any mask
    queries: Tensor | None = None  #: cross-attention: boolean (B, 1, Q), False at queries that are padding
    bias: Tensor | None = None  #: added to the scaled scores, broadcasts to (B, H, Q, K)
    softcap: float | None = None
    sinks: Tensor | None = None  #: (H,)
    scales: tuple[float, ...] | None = None  #: one per head, if an intervention changed some of them
    silenced: frozenset[int] = frozenset()  #: heads whose output an intervention replaced by 0
    set_weights: Tensor | None = None  #: (B, H, Q, K): weights that an intervention put there; NaN where it put none
    set_output: Tensor | None = None  #: (B, H, Q, Dv): what it made heads hand on; NaN where it put none
    handed_on: Tensor | None = None  #: (B, H, Q, Dv): what the model went on with, of a capture with `grad` only
    rows: tuple[int, ...] | None = None  #: the query positions that an intervention changed; None: there was none
    w_o: Tensor | None = None  #: a copy of the output projection (M, H*Dv), of a capture with `residual` only
    b_o: Tensor | None = None  #: a copy of that projection's bias (M,)
    norms: Tensor | None = None  #: the result of `value_norms`, (B, H, K), computed during the capture
    reported: Tensor | None = None  #: (B, H, Q, K) weights reported by the model, in layers that are not exact
    why: Message | None = None  #: why the layer is not exact
    tower: str = ""  #: the dotted name of the list of layers it is in, such as "vision_model.encoder.layers"
    run: int = 0  #: how many times the module had run before in this pass, for another image or as another layer

    def __repr__(self) -> str:
        _, heads, q_len, k_len = self.shape
        what = "" if self.exact else ", weights only"
        return f"<{self.stack} {self.kind} {self.index}: {heads} heads on {self.n_kv_heads}, {q_len} x {k_len}{what}>"

    @property
    def place(self) -> LayerKey:
        """Key that identifies a layer within a pass: tower, stack, kind, index and run."""
        return self.tower, self.stack, self.kind, self.index, self.run

    @property
    def exact(self) -> bool:
        """Whether weights are computed from q and k: only then can another mask or scale be tried."""
        return self.reported is None

    @cached_property
    def shape(self) -> tuple[int, int, int, int]:
        """Shape of the weights, (B, H, Q, K)."""
        if self.reported is not None:
            return cast(tuple[int, int, int, int], tuple(self.reported.shape))
        q, k, _ = self.qkv
        return max(q.shape[0], k.shape[0]), q.shape[1], q.shape[2], k.shape[2]

    @property
    def qkv(self) -> tuple[Tensor, Tensor, Tensor]:
        """q, k and v of an exact layer, typed as not None."""
        return cast(tuple[Tensor, Tensor, Tensor], (self.q, self.k, self.v))

    def tensors(self) -> dict[str, Tensor]:
        """All its tensors, by the names of their fields."""
        return {field.name: value for field in fields(self) if isinstance(value := getattr(self, field.name), Tensor)}

    def each(self, change: Callable[[Tensor], Tensor]) -> "RecordedLayer":
        """The layer with `change` applied to each of its tensors."""
        changed: dict[str, Any] = {name: change(value) for name, value in self.tensors().items()}
        return replace(self, **changed)

    @property
    def device(self) -> torch.device:
        """Device of its tensors."""
        return self.qkv[0].device if self.reported is None else self.reported.device

    @property
    def n_heads(self) -> int:
        """Number of query heads, H."""
        return self.shape[1]

    @property
    def n_kv_heads(self) -> int:
        """Number of key/value heads, G; H where only weights are known."""
        return self.n_heads if self.k is None else self.k.shape[1]

    @property
    def mask(self) -> Tensor:
        """The model's mask, boolean (B or 1, H or 1, Q, K): True where a query may attend."""
        return self._mask_of(list(range(self.n_heads)))

    def _mask_of(self, heads: list[int]) -> Tensor:
        """The model's mask for these heads."""
        if self.allowed is not None:
            return self._hide_blocked(select_heads(self.allowed, heads), heads)
        full = self._padding_mask(None)
        return self._hide_blocked(full.tril() if self.causal else full, heads)

    def _hide_blocked(
        self, mask: Tensor, heads: list[int], rows: slice | Tensor = _ALL, keys: slice | Tensor = _ALL
    ) -> Tensor:
        """`mask` of these heads, queries and keys without the blocked cells; the same tensor where there are none."""
        if self.blocked is None:
            return mask
        chosen = (torch.tensor(heads, device=self.device), rows, keys)
        places = [torch.full((size,), -1, device=self.device) for size in self.shape[1:]]
        for place, choice in zip(places, chosen, strict=True):
            place[choice] = torch.arange(len(place[choice]), device=self.device)
        cells = torch.stack([place[at] for place, at in zip(places, self.blocked.unbind(1), strict=True)])
        head, query, key = cells[:, (cells >= 0).all(0)]
        sizes = [len(heads), *(len(place[choice]) for place, choice in zip(places[1:], chosen[1:], strict=True))]
        four = mask.reshape(*(1,) * (4 - mask.dim()), *mask.shape)
        mask = four.expand(len(four), *sizes).clone()
        mask[:, head, query, key] = False
        return mask

    @property
    def real_queries(self) -> Tensor | None:
        """Mask of queries, boolean (B, 1, Q), False at padding; None where no padding is known."""
        if self.kind == "cross" or self.padding is None or self.padding.shape[1] != 1:
            return self.queries
        return self.padding[:, :, 0, -self.shape[2] :]

    def mask_for(self, mask: MaskChoice = "model", n_heads: int | None = None) -> Tensor:
        """Boolean mask for the choice `mask`, with `n_heads` heads; padding stays hidden."""
        if isinstance(mask, str):
            if mask != "model":
                raise Problem('mask={mask} must be "model", None or a boolean tensor', mask=repr(mask))
            return self.mask
        if mask is None:
            return self._padding_mask(self.padding)
        wanted = (self.shape[0], n_heads or self.n_heads, *self.shape[2:])
        if not broadcasts_to(tuple(mask.shape), wanted):
            raise Problem(
                "mask has shape {shape}; it must broadcast to {wanted}", shape=tuple(mask.shape), wanted=wanted
            )
        if mask.dtype != torch.bool:
            raise Problem("mask has dtype {dtype}; it must be boolean, True meaning may attend", dtype=mask.dtype)
        return self._padding_mask(self.padding) & mask.to(self.device)

    def _padding_mask(self, padding: Tensor | None) -> Tensor:
        """Mask that hides only padding keys, (B or 1, 1, Q, K)."""
        ones = torch.ones(1, 1, *self.shape[2:], dtype=torch.bool, device=self.device)
        return ones if padding is None else ones & padding

    def weights(
        self, heads: int | Sequence[int] | None = None, mask: MaskChoice = "model", scale: ScaleChoice = "model"
    ) -> Tensor:
        """Attention weights (B, H', Q, K) of the given heads; without arguments, the weights that the model used.

        A mask replaces the model's own pattern but never uncovers padding: `layer.mask & mine` restricts the
        pattern further, None hides only padding. Bias, soft-cap and sinks are always applied.
        """
        chosen = resolve_heads(heads, self.n_heads, self.index)
        if self.reported is not None:
            if not isinstance(mask, str) or mask != "model" or scale != "model":
                raise Problem(
                    "layer {index} gives its weights only; another mask or scale cannot be tried on it",
                    index=self.index,
                )
            return self.reported[:, chosen]
        parts = [
            self.stages_of(group, mask, scale, start, values=False).weights for start, group in self.group_heads(chosen)
        ]
        return parts[0] if len(parts) == 1 else torch.cat(parts, 1)

    def scores(self, heads: int | Sequence[int] | None = None) -> Tensor:
        """Scores q.kT (B, H', Q, K) of the given heads, before scale, bias and mask, hidden keys included."""
        q, k, _ = self._select_qkv(self._require_exact_heads(heads))
        return grouped_matmul(q, k.mT)

    def stages(self, head: int = 0, mask: MaskChoice = "model", scale: ScaleChoice = "model") -> Stages:
        """Every intermediate of one head; the head axis is kept, with length 1."""
        return self.stages_of(self._require_exact_heads(head), mask, scale)

    def _require_exact_heads(self, heads: int | Sequence[int] | None) -> list[int]:
        if not self.exact:
            raise Problem(
                "layer {index} gives its weights only; scores and masks cannot be shown or changed", index=self.index
            )
        return resolve_heads(heads, self.n_heads, self.index)

    def cropped(self, rows: slice | Tensor, keys: slice | Tensor) -> "RecordedLayer":
        """The layer cropped to some queries and keys; weights stay the same if no dropped key is visible."""
        cut: dict[str, Any] = {
            "allowed": self._hide_blocked(self._crop_mask(rows, keys), list(range(self.n_heads)), rows, keys),
            "blocked": None,
            "bias": _crop(self.bias, rows, keys),
            "padding": None if self.padding is None else self.padding[..., keys],
            "set_weights": _crop(self.set_weights, rows, keys),
            "set_output": None if self.set_output is None else self.set_output[..., rows, :],
            "handed_on": None if self.handed_on is None else self.handed_on[..., rows, :],
        }
        if self.reported is not None:
            return replace(self, causal=False, reported=_crop(self.reported, rows, keys), **cut)
        q, k, v = self.qkv
        cut |= {"q": q[..., rows, :], "k": k[..., keys, :], "v": v[..., keys, :]}
        return replace(self, causal=False, norms=None, w_o=None, **cut)

    def _crop_mask(self, rows: slice | Tensor, keys: slice | Tensor) -> Tensor:
        """Rows and keys of the model's mask; of a causal one the others are never made."""
        if self.allowed is not None:
            return cast(Tensor, _crop(self.allowed, rows, keys))
        q, k = (torch.arange(count, device=self.device) for count in self.shape[2:])
        seen = k[keys] <= q[rows][:, None] if self.causal else torch.ones_like(q[rows][:, None] * k[keys]).bool()
        return seen[None, None]

    def scale_of(self, head: int) -> float:
        """Factor of this head's q.kT: `scale`, unless an intervention changed it."""
        return self.scale if self.scales is None else self.scales[head]

    def head_outputs(self, heads: int | Sequence[int] | None = None, projected: bool = False) -> Tensor:
        """Output of each head, (B, H', Q, Dv): weights times values; 0 where the head was switched off.

        With `projected`, the output after the head's slice of the output projection, (B, H', Q, M): the head's own
        contribution to the residual stream. That needs `capture(..., residual=True)`. After a capture with `grad`,
        outputs of all heads are in the graph of the pass.
        """
        chosen = resolve_heads(heads, self.n_heads, self.index)
        if not self.exact:
            raise Problem("layer {index} gives its weights only; its heads' outputs are not known", index=self.index)
        outputs = self._compute_outputs(chosen) if self.handed_on is None else self.handed_on
        if self.handed_on is not None and heads is not None:
            outputs = outputs[:, chosen]
        return outputs @ self.w_o_by_head[chosen].mT if projected else outputs

    def outputs_at(self, rows: Sequence[int]) -> Tensor:
        """Outputs (B, H, rows, Dv) of all heads at some query positions in rising order, a band of rows at a time."""
        b, _, _, k_len = self.shape
        at = torch.tensor(rows, device=self.device)
        bands = at.split(max(1, CHUNK // (b * k_len)))
        past = self.causal and self.allowed is None  # the keys after a band's last query are in none of its rows
        keys = [slice(0, int(band[-1]) + 1) if past else _ALL for band in bands]
        return torch.cat([self.cropped(*part).head_outputs() for part in zip(bands, keys, strict=True)], 2)

    def z(self, heads: int | Sequence[int] | None = None) -> Tensor:
        """Output of each head before the output projection, (B, H', Q, Dv): the same as `head_outputs`."""
        return self.head_outputs(heads)

    def head_writes(self, heads: int | Sequence[int] | None = None) -> Tensor:
        """What each head adds to the residual stream, (B, H', Q, M): `head_outputs` with `projected`."""
        return self.head_outputs(heads, projected=True)

    def _compute_outputs(self, chosen: list[int]) -> Tensor:
        """Compute the outputs of these heads, replaced where an intervention set them."""
        outputs = torch.cat([self.stages_of(group).output for _, group in self.group_heads(chosen)], 1)
        if self.set_output is not None:
            outputs = _override(self.set_output[:, chosen], outputs)
        if not self.silenced:
            return outputs
        active = torch.tensor([head not in self.silenced for head in chosen], device=outputs.device)
        return torch.where(active[:, None, None], outputs, 0.0)

    def group_heads(self, heads: list[int]) -> Iterator[tuple[int, list[int]]]:
        """Yield groups of neighbours among `heads` with one scale, each with its start index in `heads`."""
        b, _, q_len, k_len = self.shape
        step, start = max(1, CHUNK // (b * q_len * k_len)), 0
        while start < len(heads):
            end = start + 1
            while end < len(heads) and end - start < step and self.scale_of(heads[end]) == self.scale_of(heads[start]):
                end += 1
            yield start, heads[start:end]
            start = end

    @property
    def w_o_by_head(self) -> Tensor:
        """Slice of the output projection of each head, (H, M, Dv)."""
        if self.w_o is None:
            raise Problem(
                "the output projection of layer {index} was not found, or not kept: capture with residual=True",
                index=self.index,
            )
        return head_slices(self.w_o, self.n_heads)

    def value_norms(self) -> Tensor:
        """Norm of each value after its head's slice of the output projection, (B, H, K)."""
        if self.norms is not None:
            return self.norms
        if self.w_o is None or self.v is None:
            raise Problem(
                "layer {index} has no output projection that could be found; value weighting is not available",
                index=self.index,
            )
        return value_lengths(self.v, self.w_o, self.n_heads)

    def stages_of(
        self,
        heads: list[int],
        mask: MaskChoice = "model",
        scale: ScaleChoice = "model",
        start: int = 0,
        values: bool = True,
    ) -> Stages:
        """Every intermediate of several heads with the same scale.

        `start` is the index of `heads[0]` among all requested heads, because a mask can have one entry for each
        of those. With `values` False the output is left out (Dv = 0), which halves the cost.
        """
        q, k, v = self._select_qkv(heads, values)
        factor = self.scale_of(heads[0]) if scale == "model" else scale_factor(scale, q.shape[-1])
        bias = None if self.bias is None else to_float32(select_heads(self.bias, heads))
        sinks = None if self.sinks is None else to_float32(self.sinks[heads])
        stages = attend(q, k, v, self._resolve_mask(heads, mask, start), factor, bias, self.softcap, sinks)
        if self.set_weights is None or not isinstance(mask, str) or scale != "model":
            return stages
        weights = _override(self.set_weights[:, heads], stages.weights)
        return replace(stages, weights=weights, output=weights @ v.repeat_interleave(q.shape[1] // v.shape[1], 1))

    def _select_qkv(self, heads: list[int], values: bool = False) -> tuple[Tensor, Tensor, Tensor]:
        """q, k and v of these heads in at least float32; v of width 0 without `values`."""
        q, k, v = self.qkv
        if heads != list(range(self.n_heads)):
            kv_heads = [head * self.n_kv_heads // self.n_heads for head in heads]
            q, k, v = q[:, heads], k[:, kv_heads], v[:, kv_heads]
        return to_float32(q), to_float32(k), to_float32(v if values else v[..., :0])

    def _resolve_mask(self, heads: list[int], mask: MaskChoice, start: int) -> Tensor | None:
        if mask is None:
            return self.padding
        if isinstance(mask, str):
            all_seen = mask == "model" and self.allowed is None and self.blocked is None and not self.causal
            return None if all_seen else self._mask_of(heads) if mask == "model" else self.mask_for(mask)
        if mask.dim() >= 3 and mask.shape[-3] > 1:
            mask = mask[..., start : start + len(heads), :, :]
        return self.mask_for(mask, len(heads))


def _override(replacement: Tensor, original: Tensor) -> Tensor:
    """`replacement` where it is not NaN, else `original`."""
    return torch.where(replacement.isnan(), original, replacement.to(original.dtype))


def _crop(tensor: Tensor | None, rows: slice | Tensor, keys: slice | Tensor) -> Tensor | None:
    """Rows and keys of a tensor that broadcasts to (B, H, Q, K); None stays None."""
    if tensor is None:
        return None
    cut = tensor if tensor.shape[-2] == 1 else tensor[..., rows, :]
    return cut if cut.shape[-1] == 1 else cut[..., keys]
