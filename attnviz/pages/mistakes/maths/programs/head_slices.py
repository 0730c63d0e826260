"""Head slices that overlap."""

from attnviz.base.words import N_
from attnviz.pages.mistakes.maths import checks
from attnviz.pages.mistakes.maths.mistake import Mistake

MISTAKE = Mistake(
    title=N_("Head slices that overlap"),
    why=N_(
        "i:(i+1)*d starts one coordinate further for each head instead of d. Queries and keys are wrong alike, "
        "so the scores have the right shape, and the heads share most of what they read."
    ),
    code="""\
 def attend(q, k, n_heads):
     d = q.shape[-1] // n_heads
     heads = []
     for i in range(n_heads):
-        cols = slice(i, (i + 1) * d)
+        cols = slice(i * d, (i + 1) * d)
         scores = q[:, cols] @ k[:, cols].mT
         scores = scores / math.sqrt(d)
         heads.append(scores.softmax(-1))
     return torch.stack(heads)
""",
    use="""\
weights = attend(q, k, n_heads=4)
""",
    test=checks.TORCH,
    check="""\
split = lambda t, heads: t.unflatten(-1, (heads, -1)).transpose(0, 1)
values = torch.eye(len(s)).expand(4, -1, -1)
expected = F.scaled_dot_product_attention(split(q, 4), split(k, 4), values)
assert torch.allclose(weights, expected, atol=1e-5)
""",
)
