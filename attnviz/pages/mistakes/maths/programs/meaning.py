"""True: attend here, hide there."""

from attnviz.base.words import N_
from attnviz.pages.mistakes.maths import checks
from attnviz.pages.mistakes.maths.mistake import Mistake

MISTAKE = Mistake(
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
)
