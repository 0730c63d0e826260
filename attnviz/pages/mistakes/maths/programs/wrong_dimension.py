"""Keys appended in the wrong dimension."""

from attnviz.base.words import N_
from attnviz.pages.mistakes.maths import checks
from attnviz.pages.mistakes.maths.mistake import Mistake

MISTAKE = Mistake(
    title=N_("Keys appended in the wrong dimension"),
    why=N_(
        "The tokens' axis of keys and values is the second from the end. With dim=0, or dim=1 where there is a "
        "batch axis too, the new keys become new heads: a chunk as long as the cache passes, and q broadcasts."
    ),
    code="""\
 def attend(q, k, k_cache):
     '''q, k and k_cache are (heads, tokens, width).'''
-    k = torch.cat([k_cache, k], dim=0)
+    k = torch.cat([k_cache, k], dim=1)
     n, total = q.shape[1], k.shape[1]
     past = torch.ones(n, total, dtype=torch.bool).tril(total - n)
     scores = q @ k.mT
     scores = scores / math.sqrt(q.shape[-1])
     scores = scores.masked_fill(~past, -torch.inf)
     return scores.softmax(-1)
""",
    use="""\
half = max(1, len(s) // 2)  # so many words are cached, and as many are new
made = attend(q[None, -half:], k[None, -half:], k[None, -2 * half : -half])
weights = F.pad(made[-1], (min(2 * half, len(s)) - made.shape[-1], 0))  # keys that are lost get nothing
""",
    test=checks.PASS,
    check="""\
q, k = q[-2 * half :], k[-2 * half :]
full = F.scaled_dot_product_attention(q, k, torch.eye(len(k)), is_causal=True)
assert torch.allclose(weights, full[-half:], atol=1e-5)
""",
)
