"""is_causal with a cache."""

from attnviz.base.words import N_
from attnviz.pages.mistakes.maths import checks
from attnviz.pages.mistakes.maths.mistake import Mistake

MISTAKE = Mistake(
    title=N_("is_causal with a cache"),
    why=N_(
        "When decoding with a cache there are fewer queries than keys. PyTorch's is_causal lines up the first "
        "query with the first key; what is meant is the last query with the last key."
    ),
    code="""\
 def step(cache, x, w_q, w_k):
     q = x @ w_q
     new_k = x @ w_k
     k = torch.cat([cache, new_k])
     n_keys = len(k)
     v = torch.eye(n_keys)  # so that the output is the weights
-    weights = F.scaled_dot_product_attention(q, k, v, is_causal=True)
+    past = torch.ones(len(q), n_keys, dtype=torch.bool).tril(n_keys - len(q))
+    weights = F.scaled_dot_product_attention(q, k, v, attn_mask=past)
     return weights, k
""",
    use="""\
new = max(1, len(s) // 3)  # words that come after the cache is filled
weights, cache = step(k[:-new], x[-new:], s.w_q, s.w_k)
""",
    test=checks.PASS,
    check="""\
full = F.scaled_dot_product_attention(q, k, torch.eye(len(s)), is_causal=True)
assert torch.allclose(weights, full[-new:], atol=1e-5)
""",
)
