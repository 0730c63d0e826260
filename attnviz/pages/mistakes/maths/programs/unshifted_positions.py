"""A cache, positions not shifted."""

from attnviz.base.words import N_
from attnviz.pages.mistakes.maths import checks
from attnviz.pages.mistakes.maths.mistake import Mistake

MISTAKE = Mistake(
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
)
