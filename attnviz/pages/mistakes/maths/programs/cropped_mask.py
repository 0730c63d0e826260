"""The longest mask, cropped at the wrong corner."""

from attnviz.base.words import N_
from attnviz.pages.mistakes.maths import checks
from attnviz.pages.mistakes.maths.mistake import Mistake

MISTAKE = Mistake(
    title=N_("The longest mask, cropped at the wrong corner"),
    why=N_(
        "A model keeps one causal mask for its longest text and cuts out what it needs. [..., :q, :k] cuts at "
        "the top left; queries that continue a cache stand at the end of the keys, and need the rows from k - q "
        "to k."
    ),
    code="""\
 LONGEST = 128
 past = torch.ones(LONGEST, LONGEST, dtype=torch.bool).tril()

 def attend(q, k):
     n, total = len(q), len(k)
-    may_attend = past[:n, :total]
+    may_attend = past[total - n : total, :total]
     scores = q @ k.mT
     scores = scores / math.sqrt(q.shape[-1])
     scores = scores.masked_fill(~may_attend, -torch.inf)
     return scores.softmax(-1)
""",
    use="""\
new = max(1, len(s) // 3)  # words that come after the cache is filled
weights = attend(q[-new:], k)
""",
    test=checks.PASS,
    check="""\
full = F.scaled_dot_product_attention(q, k, torch.eye(len(s)), is_causal=True)
assert torch.allclose(weights, full[-new:], atol=1e-5)
""",
)
