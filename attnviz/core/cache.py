"""A key/value cache: keys and values of earlier tokens are stored, so that decoding processes each token once."""

from __future__ import annotations

import torch
from torch import Tensor

from attnviz.base.message import Problem
from attnviz.core.heads import HeadLayout


class KVCache:
    """Keys (B, G, T, D) and values (B, G, T, Dv) of one attention layer.

    By default the cache grows with each append. With `capacity`, room for that many tokens is
    allocated at once and appending more is an error. With `window`, only the last `window` tokens
    are kept, in a ring buffer.
    """

    def __init__(
        self,
        layout: HeadLayout,
        batch: int = 1,
        *,
        capacity: int | None = None,
        window: int | None = None,
        dtype: torch.dtype = torch.float32,
        device: torch.device | str | None = None,
    ) -> None:
        if capacity is not None and window is not None:
            raise Problem(
                "capacity={capacity} and window={window}: a cache has one or the other",
                capacity=capacity,
                window=window,
            )
        for name, room in (("capacity", capacity), ("window", window)):
            if room is not None and room < 1:
                raise Problem("{name}={value} must be at least 1 token", name=name, value=room)
        self.capacity, self.window = capacity, window
        self.seen = 0  #: tokens appended so far, including those no longer kept
        room = capacity or window or 0
        self._k = torch.empty(batch, layout.kv_heads, room, layout.qk_width, dtype=dtype, device=device)
        self._v = torch.empty(batch, layout.kv_heads, room, layout.v_width, dtype=dtype, device=device)

    def __len__(self) -> int:
        """Number of tokens in the cache."""
        return self.seen if self.window is None else min(self.seen, self.window)

    @property
    def nbytes(self) -> int:
        """Exact bytes of the storage, including room that is allocated but not yet used."""
        return self._k.nbytes + self._v.nbytes

    @property
    def used_nbytes(self) -> int:
        """Exact bytes of the tokens in the cache."""
        tokens = self._k.shape[-2]
        return self.nbytes // tokens * len(self) if tokens else 0

    @property
    def keys(self) -> Tensor:
        """Keys in the cache, oldest first, (B, G, T, D). A view, unless the ring buffer has wrapped around."""
        return self._held(self._k)

    @property
    def values(self) -> Tensor:
        """Values in the cache, oldest first, (B, G, T, Dv). A view, unless the ring buffer has wrapped around."""
        return self._held(self._v)

    def append(self, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
        """Store the new tokens; return the keys and values that their queries may attend to, oldest first.

        Without a window these are all tokens, the new ones last. With a window these are the
        window - 1 tokens before the first new one, then all new ones, so that a prompt longer than
        the window still gives correct results under a windowed mask.
        """
        self._check(k, v)
        before = len(self) if self.window is None else min(len(self), self.window - 1)
        k_before, v_before = (old.narrow(-2, len(self) - before, before) for old in (self.keys, self.values))
        if self.window is not None:
            read = torch.cat([k_before, k], dim=-2), torch.cat([v_before, v], dim=-2)
        self._k, self._v = self._stored(self._k, k), self._stored(self._v, v)
        self.seen += k.shape[-2]
        return read if self.window is not None else (self.keys, self.values)

    def reset(self) -> None:
        """Remove every token; allocated room stays allocated."""
        self.seen = 0
        if self.capacity is None and self.window is None:
            self._k, self._v = self._k[..., :0, :].clone(), self._v[..., :0, :].clone()

    def _stored(self, storage: Tensor, new: Tensor) -> Tensor:
        """The storage with the new tokens added.

        Growing storage is concatenated. Preallocated storage is written in place, or copied first
        when a gradient still needs the old values.
        """
        if self.capacity is None and self.window is None:
            return torch.cat([storage, new], dim=-2)
        room, end = storage.shape[-2], self.seen + new.shape[-2]
        last = new.narrow(-2, max(new.shape[-2] - room, 0), min(new.shape[-2], room))
        place = torch.arange(end - last.shape[-2], end, device=storage.device) % room
        if torch.is_grad_enabled() and (new.requires_grad or storage.requires_grad):
            return storage.index_copy(-2, place, last)
        return storage.index_copy_(-2, place, last)

    def _held(self, storage: Tensor) -> Tensor:
        if self.window is None or self.seen <= self.window:
            return storage[..., : len(self), :]
        return storage.roll(-(self.seen % self.window), dims=-2)

    def _check(self, k: Tensor, v: Tensor) -> None:
        for name, new, storage in (("keys", k, self._k), ("values", v, self._v)):
            expected = (*storage.shape[:2], new.shape[-2], storage.shape[-1])
            if tuple(new.shape) != expected or new.dtype != storage.dtype:
                raise Problem(
                    "{name} of shape {shape} and dtype {dtype} do not fit a cache of {expected} and {kept}",
                    name=name,
                    shape=tuple(new.shape),
                    dtype=new.dtype,
                    expected=expected,
                    kept=storage.dtype,
                )
        if k.shape[-2] != v.shape[-2]:
            raise Problem("{keys} keys and {values} values; they must be equal", keys=k.shape[-2], values=v.shape[-2])
        if self.capacity is not None and self.seen + k.shape[-2] > self.capacity:
            raise Problem(
                "the cache has room for {capacity} tokens and holds {held}: {new} more do not fit",
                capacity=self.capacity,
                held=self.seen,
                new=k.shape[-2],
            )
