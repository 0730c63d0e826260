"""Mistakes with masks."""

from attnviz.base.words import N_
from attnviz.pages.mistakes.maths import checks
from attnviz.pages.mistakes.maths.mistake import Mistake

TITLE = N_("Masks")
MISTAKES = {
    "softmax_first": Mistake(
        title=N_("Softmax before masking"),
        why=N_(
            "Zeroing weights after the softmax hides a word's value and keeps its vote: it was counted in the "
            "denominator, so rows sum to less than 1 and depend on what they may not see."
        ),
        code="""\
 def attend(q, k, may_attend):
     d = q.shape[-1]
     scores = q @ k.mT / math.sqrt(d)
     highest = scores.amax(-1, keepdim=True)
     weights = (scores - highest).exp()
-    weights = weights / weights.sum(-1, keepdim=True)
-    weights = weights * may_attend
+    weights = weights * may_attend
+    weights = weights / weights.sum(-1, keepdim=True)
     return weights
""",
        use="""\
weights = attend(q, k, causal)
""",
        test=checks.ROWS,
        check="""\
assert torch.allclose(weights.sum(-1), torch.ones(len(s)))
""",
    ),
    "ignored_mask": Mistake(
        title=N_("A mask accepted and ignored"),
        why=N_(
            "masked_fill without the underscore returns a new tensor. The argument is accepted, nothing fails, and "
            "the model reads the future. The same happens to a keyword that a function swallows with **kwargs. Test "
            "that changing a hidden word changes nothing."
        ),
        code="""\
 def attend(q, k, mask=None):
     d = q.shape[-1]
     scores = q @ k.mT
     scores = scores / math.sqrt(d)
     if mask is not None:
-        scores.masked_fill(~mask, -torch.inf)
+        scores = scores.masked_fill(~mask, -torch.inf)
     weights = scores.softmax(-1)
     return weights
""",
        use="""\
weights = attend(q, k, causal)
""",
        test=checks.FUTURE,
        check="""\
assert weights.triu(1).max() == 0
""",
    ),
    "meaning": Mistake(
        title=N_("True: attend here, hide there"),
        why=N_(
            "F.scaled_dot_product_attention and FlexAttention attend where a boolean mask is True. "
            "nn.MultiheadAttention hides where it is True, in attn_mask and in key_padding_mask. Both accept either "
            "mask: no shape ever complains."
        ),
        code="""\
 def attend(x, w_q, w_k, w_v):
     n, width = x.shape
     mha = nn.MultiheadAttention(width, num_heads=1, bias=False)
     packed = torch.cat([w_q.T, w_k.T, w_v.T])
     mha.in_proj_weight = nn.Parameter(packed)
     may_attend = torch.ones(n, n, dtype=torch.bool).tril()
-    _, weights = mha(x, x, x, attn_mask=may_attend)
+    _, weights = mha(x, x, x, attn_mask=~may_attend)
     return weights
""",
        use="""\
weights = attend(x, s.w_q, s.w_k, s.w_v)
""",
        test=checks.FUTURE,
        check="""\
assert weights.isfinite().all() and weights.triu(1).max() == 0
""",
    ),
    "fill": Mistake(
        title=N_("-1e9, -inf, or the lowest number"),
        why=N_(
            "A hidden cell should weigh exactly nothing. A large negative number does that until a whole row is "
            "hidden or the dtype is too narrow for it; -inf does it until a row is all -inf, and then 0/0 is NaN."
        ),
        code="""\
 def attend(q, k, may_attend):
     d = q.shape[-1]
     scores = q @ k.mT / math.sqrt(d)
-    scores = scores.masked_fill(~may_attend, -1e9)
+    scores = scores.masked_fill(~may_attend, -torch.inf)
     highest = scores.amax(-1, keepdim=True)
     highest = highest.clamp(min=-1e30)
     weights = (scores - highest).exp()
     total = weights.sum(-1, keepdim=True)
     return weights / total.clamp(min=1e-9)
""",
        use="""\
after_padding = causal & (torch.arange(len(s)) > 0)  # the first place is padding
weights = attend(q, k, after_padding)
""",
        test=checks.HIDDEN,
        check="""\
assert weights[~after_padding].max() == 0
""",
    ),
    "before_scaling": Mistake(
        title=N_("The mask added before scaling"),
        why=N_(
            "A mask of numbers is added to the scaled scores. Added first, it is divided by sqrt(D) with them: "
            "harmless for -inf and for a fill so large that a part of it still hides, as -1e9; wrong for small "
            "fills and for position biases."
        ),
        code="""\
 def attend(q, k, slope=0.5):
     n, d = q.shape
     place = torch.arange(n)
     distance = place[:, None] - place
     bias = -slope * distance
     bias = bias.masked_fill(distance < 0, -torch.inf)
     scores = q @ k.mT
-    scores = (scores + bias) / math.sqrt(d)
+    scores = scores / math.sqrt(d) + bias
     return scores.softmax(-1)
""",
        use="""\
weights = attend(q, k)
""",
        test=checks.TORCH,
        check="""\
distance = torch.arange(len(s))[:, None] - torch.arange(len(s))
bias = torch.where(causal, -0.5 * distance, -torch.inf)
expected = F.scaled_dot_product_attention(q, k, torch.eye(len(s)), attn_mask=bias)
assert torch.allclose(weights, expected, atol=1e-5)
""",
    ),
    "transposed_padding": Mistake(
        title=N_("A padding mask transposed with its batch"),
        why=N_(
            "nn.MultiheadAttention takes x as (T, B, M) unless batch_first is set. Its key_padding_mask is (B, T) "
            "either way. Transposed along with x it fits only a batch of as many sentences as places, and there it "
            "hides other words."
        ),
        code="""\
 def attend(mha, sentences):
     lengths = torch.tensor([len(words) for words in sentences])
     n = int(lengths.max())
     x = nn.utils.rnn.pad_sequence(sentences)  # (T, B, M)
     is_padding = torch.arange(n) >= lengths[:, None]
-    _, weights = mha(x, x, x, key_padding_mask=is_padding.T)
+    _, weights = mha(x, x, x, key_padding_mask=is_padding)
     return weights  # (B, T, T)
""",
        use="""\
mha = nn.MultiheadAttention(16, num_heads=1, bias=False)
mha.in_proj_weight.data = torch.cat([s.w_q.T, s.w_k.T, s.w_v.T])
batch = [x[: n + 1] for n in range(len(s))]  # the first word, the first two, and so on
weights = attend(mha, batch)[-1]
""",
        test=checks.PADDED,
        check="""\
alone = F.scaled_dot_product_attention(q, k, torch.eye(len(s)))
assert torch.allclose(weights, alone, atol=1e-5)
""",
    ),
}
