"""One causal tile too many is skipped."""

from attnviz.base.words import N_
from attnviz.pages.mistakes.maths import checks
from attnviz.pages.mistakes.maths.mistake import Mistake

MISTAKE = Mistake(
    title=N_("One causal tile too many is skipped"),
    why=N_(
        "Under a causal mask tiles above the diagonal are skipped, nearly half of the work. The tile that the "
        "diagonal cuts is needed: the number of tiles is rounded up."
    ),
    code="""\
 def attend(q, k, rows=2, block=4):
     weights = torch.zeros(len(q), len(k))
     for first in range(0, len(q), rows):
         end = min(first + rows, len(q))
-        tiles = end // block
+        tiles = math.ceil(end / block)
         cols = slice(0, tiles * block)
         scores = q[first:end] @ k[cols].mT / math.sqrt(q.shape[-1])
         later = torch.arange(len(k))[cols] > torch.arange(first, end)[:, None]
         scores = scores.masked_fill(later, -torch.inf)
         weights[first:end, cols] = scores.softmax(-1)
     return weights
""",
    use="""\
weights = attend(q, k)
""",
    test=checks.TORCH,
    check="""\
full = F.scaled_dot_product_attention(q, k, torch.eye(len(s)), is_causal=True)
assert torch.allclose(weights, full, atol=1e-5)
""",
)
