import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from attnviz.analysis import what_if
from attnviz.analysis.head_matrix import head_matrix
from attnviz.analysis.predictions import prediction_slots, token_choices
from attnviz.analysis.what_if import change_sentence, largest_change
from attnviz.base.head_edit import HeadEdit
from attnviz.base.packed import pack_bits


@given(st.integers(1, 9), st.integers(1, 9), st.integers(0, 2**32))
def test_a_painted_mask_comes_back_from_its_bits(q_len, k_len, seed):
    mask = np.random.default_rng(seed).random((q_len, k_len)) < 0.5
    np.testing.assert_array_equal(what_if.unpack_mask(pack_bits(mask), q_len, k_len), mask)
    assert what_if.unpack_mask(b"\x00" * 99, q_len, k_len).all(), "bits of another size hide nothing"


def test_a_what_if_that_changes_nothing_changes_nothing(decoded, smollm2):
    stack = decoded.stacks[0]
    assert not HeadEdit().changes
    same = what_if.edited_head(stack, 13, 8, HeadEdit())
    np.testing.assert_array_equal(same.values, head_matrix(stack, 13, 8).values)
    trace = what_if.run_again(decoded, smollm2, stack.id, 13, 8, HeadEdit(mask="causal"))
    torch.testing.assert_close(trace.logits, decoded.trace.logits, atol=1e-4, rtol=1e-4)


def test_the_re_run_shows_the_instant_result_in_the_head_itself(decoded, smollm2):
    stack = decoded.stacks[0]
    change = HeadEdit(mask="window", window=3)
    trace = what_if.run_again(decoded, smollm2, stack.id, 5, 2, change)
    after = next(s for s in decoded.stacks_in(trace) if s.id == "decoder")
    instant = what_if.edited_head(stack, 5, 2, change)
    np.testing.assert_allclose(head_matrix(after, 5, 2).values, instant.values, atol=1e-5)
    moved = {(one.layer, one.head): one.share for one in what_if.sort_by_movement(stack, after, least=1e-5)}
    assert min(moved)[0] == 5, "nothing before the changed layer moves"
    assert moved[5, 2] > 0.01
    rows = np.abs(instant.values - head_matrix(stack, 5, 2).values).sum(1) / 2  # the first token's row among them
    assert moved[5, 2] == pytest.approx(rows.mean(), rel=1e-3)
    assert max(share for (layer, _), share in moved.items() if layer > 5) > 1e-4, "later layers follow"
    assert list(moved.values()) == sorted(moved.values(), reverse=True)


def test_the_next_tokens_share_is_of_the_whole_softmax_whatever_top_k_and_temperature_do(decoded, smollm2):
    (slot,) = prediction_slots(decoded, smollm2)
    whole = decoded.trace.logits[0].double().exp()
    shares = [choice.probability for choice in token_choices(smollm2, slot, 10)]
    assert shares == sorted(shares, reverse=True), "the likeliest come first"
    assert shares[0] == pytest.approx(float(whole.max() / whole.sum()), rel=1e-4)
    for temperature, top_k in ((1.0, 50), (0.5, 5), (0.0, 3)):
        for choice in token_choices(smollm2, slot, 10, temperature, top_k):
            assert choice.probability == pytest.approx(float(whole[choice.token] / whole.sum()), rel=1e-4)
    best = token_choices(smollm2, slot, 10, 1.0, 3)
    assert sum(choice.sampling_probability for choice in best) == pytest.approx(1, rel=1e-5)
    kept = sum(choice.probability for choice in best)
    assert [c.sampling_probability for c in best] == pytest.approx([c.probability / kept for c in best], rel=1e-4)


@pytest.mark.parametrize(
    "change", [HeadEdit(hidden=(1,)), HeadEdit(mask="window", window=2), HeadEdit(scale="none"), HeadEdit(mask="none")]
)
@pytest.mark.parametrize("place", [(13, 8), (0, 0), (29, 4)])
def test_on_a_trained_head_no_other_row_moves_more(decoded, change, place):
    stack = decoded.stacks[0]
    before, after = head_matrix(stack, *place), what_if.edited_head(stack, *place, change)
    found = largest_change(before, after)
    p, q = (np.nan_to_num(each.values).astype(float) for each in (before, after))
    by_hand = [sum(max(0.0, b - a) for a, b in zip(p[row], q[row], strict=True)) for row in range(len(p))]
    assert found.weight_shift == pytest.approx(max(by_hand), abs=1e-5)
    assert by_hand[found.row] == pytest.approx(max(by_hand), abs=1e-6)
    assert (found.before, found.after) == (
        pytest.approx(p[found.row, found.col]),
        pytest.approx(q[found.row, found.col]),
    )
    assert abs(found.after - found.before) == pytest.approx(np.abs(q[found.row] - p[found.row]).max())
    said = str(change_sentence(before, after))
    assert said.startswith(f"“{before.rows[found.row].strip()}")
    assert f"changes most: {found.weight_shift:.1%} of its weight goes to other tokens" in said
