"""Models that are not of transformers: attention by torch and written out, a language model, one that writes."""

import math
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

import attnviz as av
from tests.models.tiny import VOCAB

WIDTH, HEADS, LENGTH, BATCH = 24, 4, 7, 2


class Fused(nn.Module):
    """Attention by torch's fused function, with `lead` axes before heads."""

    def __init__(self, **options: Any) -> None:
        super().__init__()
        self.qkv, self.proj, self.num_heads = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH), HEADS
        self.options = options
        self.answer: Tensor | None = None

    def forward(self, x: Tensor, folded: bool = False) -> Tensor:
        q, k, v = (t.unflatten(-1, (HEADS, -1)).transpose(-2, -3) for t in self.qkv(x).chunk(3, -1))
        if folded:
            q, k, v = (t.flatten(0, 1) for t in (q, k, v))
        found = F.scaled_dot_product_attention(q, k, v, **self.options)
        if folded:
            found = found.unflatten(0, (-1, HEADS))
        self.answer = found.detach()
        return self.proj(found.transpose(-2, -3).flatten(-2))


class ByHand(nn.Module):
    """Attention as many tutorials write it, or by `attend` in the same place."""

    def __init__(self, ours: bool) -> None:
        super().__init__()
        self.c_attn, self.c_proj, self.ours = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH), ours
        self.drop = nn.Dropout(0.1)

    def forward(self, x: Tensor) -> Tensor:
        q, k, v = (t.unflatten(-1, (HEADS, -1)).transpose(1, 2) for t in self.c_attn(x).chunk(3, -1))
        seen = torch.ones(x.shape[1], x.shape[1], dtype=torch.bool).tril()
        if self.ours:
            y = av.attend(q, k, v, seen).output
        else:
            scores = (q @ k.transpose(-2, -1)) * (1.0 / math.sqrt(k.size(-1)))
            y = self.drop(F.softmax(scores.masked_fill(~seen, -math.inf), dim=-1)) @ v
        return self.c_proj(y.transpose(1, 2).flatten(2))


class Block(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.ln, self.qkv, self.out_proj = nn.LayerNorm(WIDTH), nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)

    def forward(self, x: Tensor) -> Tensor:
        heads = self.qkv(self.ln(x)).unflatten(-1, (3, HEADS, -1)).transpose(1, 3)  # no loop: an export objects to it
        made = F.scaled_dot_product_attention(3 * heads[:, :, 0], heads[:, :, 1], heads[:, :, 2], is_causal=True)
        return x + self.out_proj(made.transpose(1, 2).flatten(2))


class Own(nn.Module):
    """As in a course: `idx` goes in, logits come out."""

    def __init__(self, vocabulary: int = VOCAB) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.wte, self.h = nn.Embedding(vocabulary, WIDTH), nn.ModuleList([Block(), Block()])
        self.ln_f, self.lm_head = nn.LayerNorm(WIDTH), nn.Linear(WIDTH, vocabulary, bias=False)

    def forward(self, idx: Tensor) -> Tensor:
        x = self.wte(idx)
        for block in self.h:
            x = block(x)
        return self.lm_head(self.ln_f(x))


class Writer(Own):
    """The same with a `generate` as small as they come."""

    @torch.no_grad()
    def generate(self, idx: Tensor, steps: int) -> Tensor:
        for _ in range(steps):
            probabilities = F.softmax(self(idx)[:, -1], dim=-1)
            idx = torch.cat([idx, probabilities.argmax(-1, keepdim=True)], 1)
        return idx
