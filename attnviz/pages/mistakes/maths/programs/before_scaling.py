"""The mask added before scaling."""

from attnviz.base.words import N_
from attnviz.pages.mistakes.maths import checks
from attnviz.pages.mistakes.maths.mistake import Mistake

MISTAKE = Mistake(
    title=N_("The mask added before scaling"),
    why=N_(
        "A mask of numbers is added to the scaled scores. Added first, it is divided by sqrt(D) with them: "
        "harmless for -inf and for a fill so large that a part of it still hides, as -1e9; wrong for small "
        "fills and for position biases."
    ),
    code="""\
 def attend(q, k, slope=0.5):
     n, d = q.shape
     place = torch.arange(n)
     distance = place[:, None] - place
     bias = -slope * distance
     bias = bias.masked_fill(distance < 0, -torch.inf)
     scores = q @ k.mT
-    scores = (scores + bias) / math.sqrt(d)
+    scores = scores / math.sqrt(d) + bias
     return scores.softmax(-1)
""",
    use="""\
weights = attend(q, k)
""",
    test=checks.TORCH,
    check="""\
distance = torch.arange(len(s))[:, None] - torch.arange(len(s))
bias = torch.where(causal, -0.5 * distance, -torch.inf)
expected = F.scaled_dot_product_attention(q, k, torch.eye(len(s)), attn_mask=bias)
assert torch.allclose(weights, expected, atol=1e-5)
""",
)
