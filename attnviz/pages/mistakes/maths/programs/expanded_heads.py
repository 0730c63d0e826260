"""expand, or repeat, for groups of heads."""

from attnviz.base.words import N_
from attnviz.pages.mistakes.maths import checks
from attnviz.pages.mistakes.maths.mistake import Mistake

MISTAKE = Mistake(
    title=N_("expand, or repeat, for groups of heads"),
    why=N_(
        "In grouped-query attention a few K/V heads serve groups of query heads. expand only stretches a "
        "dimension of size 1, so it fails here; repeat, the cure that comes to mind, repeats the list of heads "
        "and not each head."
    ),
    code="""\
 def attend(q, k):
     '''q (H, T, D), k (G, T, D): H query heads share G heads of keys.'''
     d = q.shape[-1]
     group = len(q) // len(k)
-    k = k.repeat(group, 1, 1)
+    k = k.repeat_interleave(group, dim=0)
     scores = q @ k.mT
     scores = scores / math.sqrt(d)
     weights = scores.softmax(-1)
     return weights
""",
    use="""\
split = lambda t, heads: t.unflatten(-1, (heads, -1)).transpose(0, 1)
q, k = split(q, 4), split(k[:, :8], 2)
weights = attend(q, k)
""",
    test=checks.TORCH,
    check="""\
values = torch.eye(len(s)).expand(1, 2, -1, -1)
expected = F.scaled_dot_product_attention(q[None], k[None], values, enable_gqa=True)[0]
assert torch.allclose(weights, expected, atol=1e-5)
""",
)
