"""The mask comes after the sum."""

from attnviz.base.words import N_
from attnviz.pages.mistakes.maths import checks
from attnviz.pages.mistakes.maths.mistake import Mistake

MISTAKE = Mistake(
    title=N_("The mask comes after the sum"),
    why=N_(
        "Hidden scores must be −∞ before the tile’s maximum and sum are taken. Weights that are set to 0 "
        "afterwards are gone from the output, but not from the sum."
    ),
    code="""\
 def attend(q, k, v, may_attend, block=4):
     top = q.new_full((len(q), 1), torch.finfo(q.dtype).min)
     total, output = q.new_zeros(len(q), 1), q.new_zeros(len(q), v.shape[-1])
     for start in range(0, len(k), block):
         cols = slice(start, start + block)
         scores = q @ k[cols].mT / math.sqrt(q.shape[-1])
         new = torch.maximum(top, scores.amax(-1, keepdim=True))
         weights, shrink = (scores - new).exp(), (top - new).exp()
-        total = total * shrink + weights.sum(-1, keepdim=True)
-        weights = weights.masked_fill(~may_attend[:, cols], 0)
+        weights = weights.masked_fill(~may_attend[:, cols], 0)
+        total = total * shrink + weights.sum(-1, keepdim=True)
         output = output * shrink + weights @ v[cols]
         top = new
     return output / total.clamp(min=1e-4)
""",
    use="""\
weights = attend(q, k, torch.eye(len(s)), causal)
""",
    test=checks.ROWS,
    check="""\
assert torch.allclose(weights.sum(-1), torch.ones(len(s)))
""",
)
