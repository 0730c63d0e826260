"""MQA with a key for each query head."""

from attnviz.base.words import N_
from attnviz.pages.mistakes.maths import checks
from attnviz.pages.mistakes.maths.mistake import Mistake

MISTAKE = Mistake(
    title=N_("MQA with a key for each query head"),
    why=N_(
        "Multi-query attention has one head of keys and values, so their projections are one head wide. Where "
        "they are left as wide as the queries', a view with -1 makes T x H keys of T words, and the sum over "
        "keys hides it."
    ),
    code="""\
 def attend(x, w_q, w_k, n_heads):
     n, width = x.shape
     d = width // n_heads
     q = (x @ w_q).view(n, n_heads, d)
     q = q.transpose(0, 1)
-    k = (x @ w_k).view(1, -1, d)
+    k = (x @ w_k[:, :d]).view(1, n, d)
     scores = q @ k.mT
     scores = scores / math.sqrt(d)
     return scores.softmax(-1)
""",
    use="""\
made = attend(x, s.w_q, s.w_k, n_heads=4)
weights = made.unflatten(-1, (len(s), -1)).sum(-1)  # what a word's keys get together
""",
    test=checks.SIZES,
    check="""\
assert made.shape == (4, len(s), len(s))
""",
)
