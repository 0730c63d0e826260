"""`attend` against torch's own attention, and in edge cases."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor
from torch.nn.functional import scaled_dot_product_attention
from torch.utils._python_dispatch import TorchDispatchMode

from attnviz.base.message import Problem
from attnviz.core import masks
from attnviz.core.attention import attend, linear_attention

pytestmark = pytest.mark.numbers

EXACT = {torch.float64: 1e-10, torch.float32: 1e-5}


@st.composite
def cases(draw: st.DrawFn) -> dict[str, Tensor]:
    """q, k, v of random shapes and head layouts, and a mask that leaves each query at least one key."""
    groups, shared = draw(st.integers(1, 3)), draw(st.integers(1, 3))
    q_len, k_len, d_head, d_value = (draw(st.integers(1, 7)) for _ in range(4))
    lead = draw(st.sampled_from([(), (2,), (2, 3)]))
    dtype = draw(st.sampled_from([torch.float64, torch.float32]))
    torch.manual_seed(draw(st.integers(0, 2**31)))
    mask = torch.rand(*draw(st.sampled_from([(), lead, (1,) * len(lead)])), 1, q_len, k_len) < 0.6
    mask[..., 0] = True
    return {
        "q": torch.randn(*lead, groups * shared, q_len, d_head, dtype=dtype),
        "k": torch.randn(*lead, groups, k_len, d_head, dtype=dtype),
        "v": torch.randn(*lead, groups, k_len, d_value, dtype=dtype),
        "mask": mask,
    }


def qkv(heads: int = 4, groups: int = 2, q_len: int = 5, k_len: int = 5, d: int = 6, **how: object) -> list[Tensor]:
    torch.manual_seed(0)
    shapes = [(heads, q_len, d), (groups, k_len, d), (groups, k_len, d)]
    return [torch.randn(2, *shape, **how) for shape in shapes]  # type: ignore[arg-type]


@given(case=cases(), scale=st.sampled_from(["sqrt", None, 0.3]), biased=st.booleans())
@settings(max_examples=40, deadline=None)
def test_the_output_equals_that_of_torch(case: dict[str, Tensor], scale: str | float | None, biased: bool) -> None:
    q, k, mask = case["q"], case["k"], case["mask"]
    bias = torch.randn(q.shape[-3], q.shape[-2], k.shape[-2], dtype=q.dtype) if biased else None
    stages = attend(**case, scale=scale, bias=bias)
    factor = {"sqrt": None, None: 1.0}.get(scale, scale)
    added = mask if bias is None else bias.masked_fill(~mask, -torch.inf)  # torch's mask may be a bias, too
    expected = scaled_dot_product_attention(q, k, case["v"], attn_mask=added, scale=factor, enable_gqa=True)
    tolerance = EXACT[case["q"].dtype]
    torch.testing.assert_close(stages.output, expected, atol=tolerance, rtol=tolerance)
    torch.testing.assert_close(stages.weights.sum(-1), torch.ones_like(stages.weights[..., 0]))
    assert not stages.empty_rows.any()


def test_the_stages_follow_from_one_another() -> None:
    q, k, v = qkv(heads=2, dtype=torch.float64)
    mask, bias = masks.causal(5), torch.randn(2, 5, 5, dtype=torch.float64)
    stages = attend(q, k, v, mask=mask, scale=0.5, bias=bias, softcap=3.0)
    torch.testing.assert_close(stages.scores, q @ k.mT)
    torch.testing.assert_close(stages.scaled, 3 * torch.tanh((0.5 * (q @ k.mT) + bias) / 3))
    assert (stages.masked[..., ~mask] == -torch.inf).all()
    torch.testing.assert_close(stages.masked[..., mask], stages.scaled[..., mask])
    torch.testing.assert_close(stages.weights, stages.masked.softmax(-1))
    torch.testing.assert_close(stages.output, stages.weights @ v)


def test_a_row_that_sees_no_key_is_zero_and_is_listed_as_empty() -> None:
    q, k, v = qkv(q_len=7, k_len=5)
    stages = attend(q, k, v, mask=masks.causal(7, 5))
    assert stages.empty_rows[0, 0].tolist() == [True, True, False, False, False, False, False]
    assert (stages.weights[:, :, :2] == 0).all()
    assert (stages.output[:, :, :2] == 0).all()
    assert stages.empty_rows.shape == (2, 4, 7)


def test_a_bias_of_minus_infinity_hides_a_key_even_under_a_softcap() -> None:
    q, k, v = qkv()
    bias = torch.zeros(5, 5).masked_fill(~masks.causal(5), -torch.inf)
    torch.testing.assert_close(
        attend(q, k, v, bias=bias, softcap=2.0).weights, attend(q, k, v, mask=masks.causal(5), softcap=2.0).weights
    )


@pytest.mark.parametrize("shape", [(5,), (5, 1), (4, 1, 5), (2, 1, 1, 5)])
def test_a_mask_broadcasts_over_the_axes_it_lacks(shape: tuple[int, ...]) -> None:
    q, k, v = qkv()
    mask = torch.rand(shape) < 0.7
    full = mask.broadcast_to(2, 4, 5, 5).contiguous()
    torch.testing.assert_close(attend(q, k, v, mask=mask).weights, attend(q, k, v, mask=full).weights)


def test_leading_axes_broadcast_and_a_mask_may_add_one() -> None:
    q, k, v = qkv()
    torch.testing.assert_close(attend(q, k[:1], v[:1]).output[1], attend(q[1], k[0], v[0]).output)
    mask = torch.stack([masks.causal(5), masks.sliding_window(5, None, 2)]).unsqueeze(1)  # (B, 1, Q, K)
    both = attend(q[0], k[0], v[0], mask=mask)
    torch.testing.assert_close(both.output[1], attend(q[0], k[0], v[0], mask=mask[1]).output)


@pytest.mark.parametrize("q_len, k_len", [(0, 3), (3, 0), (0, 0)])
@pytest.mark.parametrize("with_sinks", [False, True])
def test_nothing_to_attend_from_or_to_is_no_error(q_len: int, k_len: int, with_sinks: bool) -> None:
    q, k, v = qkv(q_len=q_len, k_len=k_len)
    stages = attend(q, k, v, mask=masks.causal(q_len, k_len), sinks=torch.zeros(4) if with_sinks else None)
    assert stages.weights.shape == (2, 4, q_len, k_len)
    assert stages.output.shape == (2, 4, q_len, 6)
    assert (stages.output == 0).all()
    assert stages.empty_rows.all()


def test_a_sink_is_one_more_key_with_an_empty_value() -> None:
    q, k, v = qkv(dtype=torch.float64)
    sinks = torch.randn(4, dtype=torch.float64)
    bias = torch.cat([torch.zeros(4, 5, 5), torch.zeros(4, 5, 1)], -1).to(torch.float64)
    bias[..., -1] = sinks[:, None]
    nothing = torch.zeros(2, 2, 1, 6, dtype=torch.float64)
    longer = attend(q, torch.cat([k, nothing], 2), torch.cat([v, nothing], 2), bias=bias)
    stages = attend(q, k, v, sinks=sinks)
    torch.testing.assert_close(stages.output, longer.output)
    torch.testing.assert_close(stages.weights, longer.weights[..., :-1])
    assert (stages.weights.sum(-1) < 1).all()


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_half_precision_keeps_its_dtype_and_is_near_float64(dtype: torch.dtype) -> None:
    q, k, v = qkv(dtype=torch.float64)
    low = attend(*(x.to(dtype) for x in (q, k, v)), mask=masks.causal(5), sinks=torch.zeros(4))
    assert {x.dtype for x in (low.scores, low.scaled, low.masked, low.weights, low.output)} == {dtype}
    high = attend(q, k, v, mask=masks.causal(5), sinks=torch.zeros(4)).output
    torch.testing.assert_close(low.output.double(), high, atol=0.03, rtol=0.03)


def test_dropout_acts_only_in_training() -> None:
    q, k, v = qkv()
    plain = attend(q, k, v)
    assert attend(q, k, v, dropout=0.5).dropped is None
    torch.manual_seed(1)
    dropped = attend(q, k, v, dropout=0.5, training=True)
    kept = dropped.dropped != 0
    assert 0 < kept.float().mean() < 1
    torch.testing.assert_close(dropped.weights, plain.weights)
    torch.testing.assert_close(dropped.dropped[kept], 2 * plain.weights[kept])
    torch.testing.assert_close(attend(q, k, v, dropout=1.0, training=True).output, torch.zeros_like(plain.output))


@pytest.mark.parametrize("softcap", [None, 2.0])
@pytest.mark.parametrize("sinks", [False, True])
def test_gradients_are_right_and_never_nan_even_where_a_row_is_empty(softcap: float | None, sinks: bool) -> None:
    mask = masks.causal(4, 3)  # the first row sees nothing
    inputs = [x.requires_grad_() for x in qkv(2, 1, 4, 3, 2, dtype=torch.float64)]
    bias = torch.randn(2, 4, 3, dtype=torch.float64, requires_grad=True)
    sink = torch.randn(2, dtype=torch.float64, requires_grad=True)

    def output(q: Tensor, k: Tensor, v: Tensor, bias: Tensor, sink: Tensor) -> Tensor:
        return attend(q, k, v, mask, bias=bias, softcap=softcap, sinks=sink if sinks else None).output

    assert torch.autograd.gradcheck(output, (*inputs, bias, sink))
    output(*inputs, bias, sink).sum().backward()
    assert all(x.grad is not None and x.grad.isfinite().all() for x in inputs)


def test_gradients_are_finite_where_a_bias_hides_a_whole_row() -> None:
    q, k, v = (x.requires_grad_() for x in qkv())
    bias = torch.zeros(5, 5).index_fill(0, torch.tensor([1]), -torch.inf).requires_grad_()
    stages = attend(q, k, v, bias=bias)
    assert stages.empty_rows[0, 0].tolist() == [False, True, False, False, False]
    stages.output.sum().backward()
    assert all(x.grad is not None and x.grad.isfinite().all() for x in (q, k, v, bias))


class Largest(TorchDispatchMode):
    """Records the number of elements of the largest tensor that is created, and not only expanded."""

    def __init__(self) -> None:
        super().__init__()
        self.elements = 0

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):  # type: ignore[no-untyped-def]
        result = func(*args, **kwargs or {})
        if isinstance(result, Tensor) and 0 not in result.stride():
            self.elements = max(self.elements, result.numel())
        return result


def test_shared_keys_and_values_are_never_copied_to_the_query_heads() -> None:
    q, k, v = torch.randn(1, 32, 1, 16), torch.randn(1, 2, 200, 16), torch.randn(1, 2, 200, 16)
    with Largest() as largest:
        attend(q, k, v)
    assert largest.elements == 32 * 200  # the scores; keys copied to 32 heads would have 32 * 200 * 16 elements


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.float16, torch.bfloat16])
def test_a_gpu_gives_the_same_numbers(dtype: torch.dtype) -> None:
    inputs = qkv(dtype=dtype)
    how = {"mask": masks.causal(5), "sinks": torch.zeros(4, dtype=dtype)}
    there = attend(*(x.cuda() for x in inputs), **{name: x.cuda() for name, x in how.items()})
    tolerance = {torch.float64: 1e-10, torch.float32: 1e-5}.get(dtype, 0.02)
    torch.testing.assert_close(there.output.cpu(), attend(*inputs, **how).output, atol=tolerance, rtol=tolerance)


@pytest.mark.parametrize(
    "change, sentence",
    [
        ({"q": torch.zeros(6, 3, 4), "k": torch.zeros(4, 3, 4)}, "n_heads=6 must be a multiple of n_kv_heads=4"),
        ({"k": torch.zeros(2, 3, 5)}, "q is 4 wide and k is 5 wide"),
        ({"v": torch.zeros(2, 2, 4)}, r"k has \(heads, positions\) = \(2, 3\) and v has \(2, 2\)"),
        ({"q": torch.zeros(3, 4)}, r"q has shape \(3, 4\)"),
        ({"k": torch.zeros(2, 3, 4).double()}, "k has dtype torch.float64"),
        ({"q": torch.zeros(2, 3, 4).int()}, "q has dtype torch.int32"),
        ({"mask": torch.zeros(3, 3)}, "mask has dtype torch.float32"),
        ({"mask": torch.ones(4, 3) > 0}, r"mask has shape \(4, 3\); it must broadcast to .* = \(2, 3, 3\)"),
        ({"mask": torch.ones(5, 3, 3) > 0}, r"mask has shape \(5, 3, 3\)"),
        ({"bias": torch.ones(7)}, r"bias has shape \(7,\)"),
        ({"scale": "root"}, "scale='root' must be"),
        ({"softcap": 0.0}, "softcap=0.0 must be above 0"),
        ({"sinks": torch.zeros(3)}, r"sinks has shape \(3,\); it must be \(2,\)"),
        ({"dropout": 1.5}, "dropout=1.5 must lie between 0 and 1"),
    ],
)
def test_invalid_arguments_are_refused_in_one_sentence(change: dict[str, object], sentence: str) -> None:
    given = {"q": torch.zeros(2, 3, 4), "k": torch.zeros(2, 3, 4), "v": torch.zeros(2, 3, 4), **change}
    with pytest.raises(Problem, match=sentence):
        attend(**given)  # type: ignore[arg-type]


def test_linear_attention_is_the_mixture_that_its_weights_make_key_by_key() -> None:
    """Of elu + 1, which is exp(x) below zero and x + 1 above."""
    q, k, v = (torch.randn(2, 3, n, d, dtype=torch.float64) for n, d in ((5, 4), (7, 4), (7, 6)))
    phi_q, phi_k = (torch.where(x > 0, x + 1, x.exp()) for x in (q, k))
    products = torch.stack([(phi_q * phi_k[..., j : j + 1, :]).sum(-1) for j in range(7)], -1)
    expected = products / products.sum(-1, keepdim=True) @ v
    torch.testing.assert_close(linear_attention(q, k, v), expected, atol=1e-12, rtol=0)
