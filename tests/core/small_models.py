"""A decoder and an encoder built from the core alone, as a reader would build them."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from attnviz.core import masks
from attnviz.core.decoder import Block, FeedForward, RMSNorm
from attnviz.core.heads import HeadLayout
from attnviz.core.modules import Attention, KVCache
from attnviz.core.positions import Sinusoidal
from attnviz.core.rope import RoPE


class Decoder(nn.Module):
    """A decoder like Llama: pre-norm RMS blocks, rotary positions, a gated FFN, tied embeddings."""

    def __init__(self, vocabulary: int, d_model: int, n_layers: int, layout: HeadLayout) -> None:
        super().__init__()
        self.layout = layout
        self.embedding = nn.Embedding(vocabulary, d_model)
        self.blocks = nn.ModuleList(
            Block(
                Attention(layout, position=RoPE(), use_fused=True),
                FeedForward(d_model, 3 * d_model, "silu", gated=True, bias=False),
                norm="rms",
            )
            for _ in range(n_layers)
        )
        self.norm = RMSNorm(d_model)

    def forward(self, tokens: Tensor, caches: list[KVCache] | None = None) -> Tensor:
        """Tokens (B, T) -> logits (B, T, vocabulary)."""
        x = self.embedding(tokens)
        for block, cache in zip(self.blocks, caches or [None] * len(self.blocks), strict=True):
            x = block(x, mask=masks.causal, cache=cache)
        return self.norm(x) @ self.embedding.weight.T

    @torch.no_grad()
    def write(self, prompt: Tensor, count: int) -> Tensor:
        """The prompt (B, T) followed by `count` generated tokens, always the most likely one."""
        room = {"batch": len(prompt), "capacity": prompt.shape[1] + count, "dtype": self.embedding.weight.dtype}
        caches = [KVCache(self.layout, **room) for _ in self.blocks]
        text = new = prompt
        for _ in range(count):
            new = self(new, caches)[:, -1:].argmax(-1)
            text = torch.cat([text, new], dim=1)
        return text


class Encoder(nn.Module):
    """An encoder like BERT: post-norm blocks, in which every token sees every real token."""

    def __init__(self, vocabulary: int, layout: HeadLayout, n_layers: int) -> None:
        super().__init__()
        width = layout.d_model
        self.embedding, self.position = nn.Embedding(vocabulary, width), Sinusoidal()
        self.blocks = nn.ModuleList(
            Block(Attention(layout, qkv_bias=True, out_bias=True), FeedForward(width, 4 * width), order="post")
            for _ in range(n_layers)
        )

    def forward(self, tokens: Tensor, lengths: Tensor) -> Tensor:
        """Tokens (B, T), of which the first `lengths` (B,) are real -> (B, T, M)."""
        count = tokens.shape[1]
        x = self.position.add(self.embedding(tokens), torch.arange(count))
        for block in self.blocks:
            x = block(x, mask=masks.padding(count, lengths=lengths))
        return x
