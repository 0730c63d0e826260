"""Keys viewed with the queries' length."""

from attnviz.base.words import N_
from attnviz.pages.mistakes.maths import checks
from attnviz.pages.mistakes.maths.mistake import Mistake

MISTAKE = Mistake(
    title=N_("Keys viewed with the queries' length"),
    why=N_(
        "One variable for the length, taken from x, and used to cut q, k and v into heads. Keys and values have "
        "a length of their own as soon as they come from another sequence or from a cache."
    ),
    code="""\
 def attend(x_q, x_kv, w_q, w_k, n_heads):
     n, width = x_q.shape
     d = width // n_heads
     q = (x_q @ w_q).view(n, n_heads, d)
-    k = (x_kv @ w_k).view(n, n_heads, d)
+    k = (x_kv @ w_k).view(len(x_kv), n_heads, d)
     q, k = q.transpose(0, 1), k.transpose(0, 1)
     scores = q @ k.mT
     scores = scores / math.sqrt(d)
     return scores.softmax(-1)
""",
    use="""\
new = max(1, len(s) // 3)  # the last words ask the whole sentence
weights = attend(x[-new:], x, s.w_q, s.w_k, n_heads=4)
""",
    test=checks.PASS,
    check="""\
full = attend(x, x, s.w_q, s.w_k, n_heads=4)
assert torch.allclose(weights, full[:, -new:], atol=1e-5)
""",
)
