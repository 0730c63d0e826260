import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn
from torch.utils.flop_counter import FlopCounterMode

from attnviz.core import latent
from attnviz.core.attention import attend
from attnviz.core.costs import count_pairs

pytestmark = pytest.mark.numbers

DEEPSEEK_V3 = latent.LatentLayout(7168, 128, 1536, 512, 128, 64, 128)
widths = st.integers(1, 6)
layouts = st.builds(latent.LatentLayout, widths, widths, st.one_of(st.none(), widths), widths, widths, widths, widths)


class Both(nn.Module):
    """MLA without rotation or norms, computed in expanded and in absorbed form with the same weights."""

    def __init__(self, layout):
        super().__init__()
        self.layout, linear = layout, lambda a, b: nn.Linear(a, b, bias=False, dtype=torch.float64)
        q_width = layout.n_heads * (layout.d_nope + layout.d_rope)
        rank = layout.q_rank
        self.q = (
            linear(layout.d_model, q_width)
            if rank is None
            else nn.Sequential(linear(layout.d_model, rank), nn.Linear(rank, q_width, False, dtype=torch.float64))
        )
        self.down = linear(layout.d_model, layout.kv_rank + layout.d_rope)
        self.up = linear(layout.kv_rank, layout.n_heads * (layout.d_nope + layout.d_value))
        self.out = linear(layout.n_heads * layout.d_value, layout.d_model)

    def forward(self, new, cached, machine):
        a = self.layout
        q = self.q(new).unflatten(-1, (a.n_heads, -1)).transpose(0, 1)  # (H, S, nope+rope)
        latents = torch.cat([cached, self.down(new)])  # (T, R+P)
        c, rope = latents.split([a.kv_rank, a.d_rope], -1)
        if machine == "absorbed":
            per_head = self.up.weight.view(a.n_heads, -1, a.kv_rank)  # (H, nope+v, R)
            to_key, to_value = per_head.split([a.d_nope, a.d_value], 1)
            folded = torch.cat([q[..., : a.d_nope] @ to_key, q[..., a.d_nope :]], -1)  # (H, S, R+P)
            scale = (a.d_nope + a.d_rope) ** -0.5
            output = attend(folded, latents[None], c[None], scale=scale).output @ to_value.mT
        else:
            up = self.up(c).unflatten(-1, (a.n_heads, -1)).transpose(0, 1)
            k = torch.cat([up[..., : a.d_nope], rope.expand(a.n_heads, -1, -1)], -1)
            output = attend(q, k, up[..., a.d_nope :]).output
        return self.out(output.transpose(0, 1).flatten(1))


@given(layouts, st.integers(1, 4), st.integers(0, 4))
@settings(max_examples=25, deadline=None)
def test_expanded_and_absorbed_forms_give_the_same_numbers_and_cost_what_torch_counts(layout, new, before):
    mla = Both(layout)
    x = torch.randn(new, layout.d_model, dtype=torch.float64)
    cached = torch.randn(before, layout.kv_rank + layout.d_rope, dtype=torch.float64)
    outputs = {}
    for machine in ("absorbed", "re-expanded"):
        with FlopCounterMode(display=False) as counter:
            outputs[machine] = mla(x, cached, machine)
        context = new + before
        found = layout.flops(new, context, count_pairs(new, context), machine)
        assert found.total == counter.get_total_flops()
    torch.testing.assert_close(outputs["absorbed"], outputs["re-expanded"], atol=1e-10, rtol=1e-10)


@given(layouts)
@settings(max_examples=25, deadline=None)
def test_parameters_equal_those_of_real_projections_and_norms(layout):
    real = sum(p.numel() for p in Both(layout).parameters()) + layout.kv_rank + (layout.q_rank or 0)
    assert layout.parameters.total == real


def test_formulas_reproduce_the_published_numbers_of_deepseek():
    assert 61 * DEEPSEEK_V3.elements() * 2 == 70_272  # bytes a token, arXiv 2505.09343 table 1
    assert float(DEEPSEEK_V3.intensity()) == pytest.approx(241.8, abs=0.05)
    assert DEEPSEEK_V3.elements("expanded") == 128 * (192 + 128)


def test_the_absorbed_form_is_multi_query_attention_whose_value_is_part_of_the_key():
    assert DEEPSEEK_V3.absorbed.kind == "MQA"
    assert DEEPSEEK_V3.expanded.kind == "MHA"
    assert DEEPSEEK_V3.intensity("expanded") == 1
