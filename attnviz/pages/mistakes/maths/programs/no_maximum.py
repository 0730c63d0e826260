"""No maximum subtracted."""

from attnviz.base.words import N_
from attnviz.pages.mistakes.maths import checks
from attnviz.pages.mistakes.maths.mistake import Mistake

MISTAKE = Mistake(
    title=N_("No maximum subtracted"),
    why=N_(
        "Softmax does not change when the same number is taken off all scores of a row. Taking off the largest "
        "keeps every exponential at 1 or below; without it one large score is infinite in float16."
    ),
    code="""\
 def attend(q, k, v, may_attend, block=4):
     top = q.new_full((len(q), 1), torch.finfo(q.dtype).min)
     total, output = q.new_zeros(len(q), 1), q.new_zeros(len(q), v.shape[-1])
     for start in range(0, len(k), block):
         cols = slice(start, start + block)
         scores = q @ k[cols].mT / math.sqrt(q.shape[-1])
         scores = scores.masked_fill(~may_attend[:, cols], -torch.inf)
         new = torch.maximum(top, scores.amax(-1, keepdim=True))
-        weights, shrink = scores.exp(), 1
+        weights, shrink = (scores - new).exp(), (top - new).exp()
         total = total * shrink + weights.sum(-1, keepdim=True)
         output = output * shrink + weights @ v[cols]
         top = new
     return output / total.clamp(min=1e-4)
""",
    use="""\
q = (q * 12 / s.scores.max()).half()  # the largest score is 12
weights = attend(q, k.half(), torch.eye(len(s)).half(), torch.ones_like(causal))
""",
    test=checks.FINITE,
    check="""\
assert weights.isfinite().all()
""",
)
