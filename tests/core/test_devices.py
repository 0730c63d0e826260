"""Everything in the core runs on the device of its inputs, with no tensor left on the CPU.

torch's "meta" device is on every machine and, like a GPU, refuses operations with tensors on the CPU.
"""

import pytest
import torch

from attnviz.core import masks
from attnviz.core.attention import attend
from attnviz.core.cache import KVCache
from attnviz.core.heads import HeadLayout
from attnviz.core.modules import Attention
from attnviz.core.positions import ALiBi, Position, Sinusoidal, T5Bias
from attnviz.core.rope import AxialRoPE, RoPE, YaRN, grid_positions

DEVICES = ["meta", *(["cuda"] if torch.cuda.is_available() else [])]
on_each_device = pytest.mark.parametrize("device", DEVICES)


@on_each_device
def test_attend_runs_where_its_inputs_are(device: str) -> None:
    q, k, v = (torch.randn(2, h, 5, 8, device=device) for h in (4, 2, 2))
    sinks, bias = torch.zeros(4, device=device), torch.zeros(5, 5, device=device)
    stages = attend(q, k, v, masks.causal(5, device=device), bias=bias, softcap=3.0, sinks=sinks)
    assert {x.device.type for x in (stages.weights, stages.output, stages.empty_rows)} == {device}


@on_each_device
def test_masks_are_made_on_the_requested_device(device: str) -> None:
    made = [
        masks.sliding_window(4, None, 2, device=device),
        masks.causal(4, device=device),
        masks.everything(4, device=device),
    ]
    assert {mask.device.type for mask in made} == {device}


@on_each_device
@pytest.mark.parametrize(
    "position", [None, RoPE(scaling=YaRN(2.0, 8)), ALiBi(4), T5Bias(4), Sinusoidal()], ids=lambda p: type(p).__name__
)
@pytest.mark.parametrize("room", [{}, {"capacity": 7}])
@pytest.mark.parametrize("use_fused", [False, True])
def test_decoding_runs_where_the_module_is(
    device: str, position: Position | None, room: dict[str, int], use_fused: bool
) -> None:
    layout = HeadLayout(16, 4, 2)
    attention = Attention(layout, position=position, qk_norm="full", side_input=5, use_fused=use_fused)
    attention.to(device)
    cache = KVCache(layout, 2, device=device, **room)
    side = torch.randn(2, 3, 5, device=device)
    for count in (5, 1, 1):
        x = attention(torch.randn(2, count, 16, device=device), mask=masks.causal, cache=cache, side=side)
    assert x.device.type == device


@on_each_device
def test_axial_rope_runs_where_the_patches_are(device: str) -> None:
    x = torch.randn(2, 12, 12, device=device)
    assert AxialRoPE().rotate(x, grid_positions(2, 2, 3).to(device)).device.type == device
