"""Mistakes with the cache."""

from attnviz.base.words import N_
from attnviz.pages.mistakes.maths import checks
from attnviz.pages.mistakes.maths.mistake import Mistake

TITLE = N_("Cache")
MISTAKES = {
    "top_left": Mistake(
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
    ),
    "cropped_mask": Mistake(
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
    ),
    "query_length": Mistake(
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
    ),
    "unshifted_positions": Mistake(
        title=N_("A cache, positions not shifted"),
        why=N_(
            "Keys are rotated before they are cached. New tokens must go on counting where the cache ends; counted "
            "from 0 again, they stand among the first words of the prompt."
        ),
        code="""\
 def rotate(x, place):
     angle = place[:, None] * 100.0 ** (-torch.arange(0, 16, 2) / 16)
     a, b, cos, sin = x[:, ::2], x[:, 1::2], angle.cos(), angle.sin()
     return torch.cat([a * cos - b * sin, a * sin + b * cos], -1)

 def attend(q, k, k_cache):
-    place = torch.arange(len(q))
+    place = torch.arange(len(q)) + len(k_cache)
     k = torch.cat([k_cache, rotate(k, place)])
     scores = rotate(q, place) @ k.mT / math.sqrt(16)
     past = torch.ones(scores.shape, dtype=torch.bool).tril(len(k_cache))
     return scores.masked_fill(~past, -torch.inf).softmax(-1)
""",
        use="""\
new = max(1, len(s) // 3)  # words that come after the cache is filled
k_cache = rotate(k[:-new], torch.arange(len(s) - new))
weights = attend(q[-new:], k[-new:], k_cache)
""",
        test=checks.PASS,
        check="""\
full = attend(q, k, k[:0])
assert torch.allclose(weights, full[-new:], atol=1e-5)
""",
    ),
    "wrong_dimension": Mistake(
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
    ),
}
