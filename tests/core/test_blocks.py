"""The block against torch's own layers, and small models built from the core alone."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import nn

from attnviz.base.message import Problem
from attnviz.core import masks
from attnviz.core.decoder import Block, FeedForward, RMSNorm
from attnviz.core.heads import HeadLayout
from attnviz.core.modules import Attention
from tests.core.small_models import Decoder, Encoder

F64 = torch.float64


@pytest.fixture(autouse=True)
def _seeded() -> None:
    torch.manual_seed(0)


def copy_attention(ours: Attention, theirs: nn.MultiheadAttention) -> None:
    ours.qkv.qkv_proj.weight.data.copy_(theirs.in_proj_weight)  # type: ignore[union-attr, operator]
    ours.qkv.qkv_proj.bias.data.copy_(theirs.in_proj_bias)  # type: ignore[union-attr, operator]
    ours.o_proj.load_state_dict(theirs.out_proj.state_dict())


def like(theirs: nn.Module, *, order: Any, activation: Any, cross: bool = False) -> Block:
    """Our block with the weights of torch's encoder or decoder layer."""

    def attention() -> Attention:
        return Attention(HeadLayout(24, 4), packed=True, qkv_bias=True, out_bias=True)

    ours = Block(attention(), FeedForward(24, 50, activation), cross=attention() if cross else None, order=order).to(
        F64
    )
    for part in theirs.modules():  # random norms too, so that a norm in the wrong place changes the result
        if isinstance(part, nn.LayerNorm):
            nn.init.normal_(part.weight)
            nn.init.normal_(part.bias)
    copy_attention(ours.attention, theirs.self_attn)
    names: list[tuple[Any, str]] = [
        (ours.ffn.up_proj, "linear1"),
        (ours.ffn.down_proj, "linear2"),
        (ours.attention_norm, "norm1"),
    ]
    if ours.cross is not None and ours.cross_norm is not None:
        copy_attention(ours.cross, theirs.multihead_attn)
        names += [(ours.cross_norm, "norm2"), (ours.ffn_norm, "norm3")]
    else:
        names += [(ours.ffn_norm, "norm2")]
    for part, name in names:
        part.load_state_dict(getattr(theirs, name).state_dict())
    return ours


@pytest.mark.parametrize("order", ["pre", "post"])
@pytest.mark.parametrize("activation", ["relu", "gelu"])
def test_a_block_equals_torchs_encoder_layer(order: str, activation: str) -> None:
    theirs = nn.TransformerEncoderLayer(
        24, 4, 50, dropout=0.0, activation=activation, batch_first=True, norm_first=order == "pre", dtype=F64
    )
    ours = like(theirs, order=order, activation=activation)
    x, real = torch.randn(3, 7, 24, dtype=F64), masks.padding(7, lengths=[7, 4, 6])
    mask = masks.sliding_window(7, None, 3, both_sides=True)
    expected = theirs(x, src_mask=~mask, src_key_padding_mask=~real[:, 0, 0])
    seen = (mask & real).any(-1)[:, 0]  # torch gives NaN in rows that may see no key
    torch.testing.assert_close(ours(x, mask=mask & real)[seen], expected[seen], atol=1e-10, rtol=1e-10)


@pytest.mark.parametrize("order", ["pre", "post"])
def test_a_block_with_cross_attention_equals_torchs_decoder_layer(order: str) -> None:
    theirs = nn.TransformerDecoderLayer(24, 4, 50, dropout=0.0, batch_first=True, norm_first=order == "pre", dtype=F64)
    ours = like(theirs, order=order, activation="relu", cross=True)
    x, memory = torch.randn(2, 5, 24, dtype=F64), torch.randn(2, 8, 24, dtype=F64)
    real = masks.padding(5, 8, lengths=[8, 3])
    expected = theirs(x, memory, tgt_mask=~masks.causal(5), memory_key_padding_mask=~real[:, 0, 0])
    torch.testing.assert_close(
        ours(x, memory, mask=masks.causal, cross={"mask": real}), expected, atol=1e-10, rtol=1e-10
    )


def test_rms_norm_equals_that_of_torch() -> None:
    ours, theirs, x = RMSNorm(8, 1e-6).to(F64), nn.RMSNorm(8, 1e-6, dtype=F64), torch.randn(3, 8, dtype=F64)
    nn.init.normal_(ours.weight)
    theirs.load_state_dict(ours.state_dict())
    torch.testing.assert_close(ours(x), theirs(x), atol=1e-10, rtol=1e-10)
    assert ours.to(torch.bfloat16)(x.bfloat16()).dtype == torch.bfloat16


def test_a_gated_ffn_multiplies_two_projections() -> None:
    ffn, x = FeedForward(8, 20, "silu", gated=True, bias=False), torch.randn(2, 3, 8)
    assert ffn.gate_proj is not None
    expected = (nn.functional.silu(x @ ffn.gate_proj.weight.T) * (x @ ffn.up_proj.weight.T)) @ ffn.down_proj.weight.T
    torch.testing.assert_close(ffn(x), expected)


def test_the_ffn_treats_every_token_by_itself() -> None:
    ffn, x = FeedForward(8, 20), torch.randn(2, 3, 8)
    torch.testing.assert_close(ffn(x)[:, 1], ffn(x[:, 1]))


def test_dropout_of_a_block_acts_in_training_only() -> None:
    block = Block(Attention(HeadLayout(8, 2)), FeedForward(8, 16, dropout=0.5), dropout=0.5)
    x = torch.randn(1, 3, 8)
    assert not torch.equal(block(x), block(x))
    block.eval()
    assert torch.equal(block(x), block(x))


def test_a_small_decoder_writes_the_same_with_and_without_a_cache() -> None:
    model = Decoder(vocabulary=20, d_model=16, n_layers=3, layout=HeadLayout(16, 4, 2, d_head=6)).to(F64).eval()
    prompt = torch.randint(20, (2, 5))
    written, text = model.write(prompt, 6), prompt
    for _ in range(6):
        text = torch.cat([text, model(text)[:, -1:].argmax(-1)], dim=1)
    assert torch.equal(written, text)


def test_a_small_decoder_learns_to_copy() -> None:
    model = Decoder(vocabulary=8, d_model=32, n_layers=2, layout=HeadLayout(32, 4, 1))
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
    for _ in range(150):
        half = torch.randint(8, (32, 5))
        text = torch.cat([half, half], dim=1)
        loss = nn.functional.cross_entropy(model(text[:, :-1])[:, 4:].flatten(0, 1), text[:, 5:].flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    assert loss < 0.2


def test_a_small_encoder_does_not_see_padding() -> None:
    model = Encoder(vocabulary=20, layout=HeadLayout(16, 4), n_layers=2).eval()
    text = torch.randint(20, (1, 4))
    padded = torch.cat([text, torch.zeros(1, 3, dtype=torch.long)], dim=1)
    torch.testing.assert_close(model(padded, lengths=torch.tensor([4]))[:, :4], model(text, lengths=torch.tensor([4])))


@pytest.mark.parametrize(
    "wrong, sentence",
    [
        (lambda: FeedForward(4, 8, "tanh"), "activation='tanh' is not one of relu, gelu, gelu_tanh, silu"),  # type: ignore[arg-type]
        (lambda: Block(Attention(HeadLayout(8, 2)), nn.Identity(), order="mid"), "order='mid' must be"),  # type: ignore[arg-type]
        (lambda: Block(Attention(HeadLayout(8, 2)), nn.Identity(), norm="batch"), "norm='batch' must be"),  # type: ignore[arg-type]
        (
            lambda: Block(Attention(HeadLayout(8, 2)), nn.Identity(), cross=Attention(HeadLayout(8, 2)))(
                torch.zeros(1, 8)
            ),
            "needs a context",
        ),
    ],
)
def test_invalid_arguments_are_refused_in_one_sentence(wrong: Any, sentence: str) -> None:
    with pytest.raises(Problem, match=sentence):
        wrong()
