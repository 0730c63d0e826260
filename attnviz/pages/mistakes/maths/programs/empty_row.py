"""A row that sees nothing yet."""

from attnviz.base.words import N_
from attnviz.pages.mistakes.maths import checks
from attnviz.pages.mistakes.maths.mistake import Mistake

MISTAKE = Mistake(
    title=N_("A row that sees nothing yet"),
    why=N_(
        "Where all scores so far are hidden, the largest is −∞, and −∞ − (−∞) is no number. Padding on the left "
        "and sliding windows bring such rows."
    ),
    code="""\
 def attend(q, k, v, may_attend, block=4):
-    top = q.new_full((len(q), 1), -torch.inf)
+    top = q.new_full((len(q), 1), torch.finfo(q.dtype).min)
     total, output = q.new_zeros(len(q), 1), q.new_zeros(len(q), v.shape[-1])
     for start in range(0, len(k), block):
         cols = slice(start, start + block)
         scores = q @ k[cols].mT / math.sqrt(q.shape[-1])
         scores = scores.masked_fill(~may_attend[:, cols], -torch.inf)
         new = torch.maximum(top, scores.amax(-1, keepdim=True))
         weights, shrink = (scores - new).exp(), (top - new).exp()
         total = total * shrink + weights.sum(-1, keepdim=True)
         output = output * shrink + weights @ v[cols]
         top = new
     return output / total.clamp(min=1e-4)
""",
    use="""\
window = causal.triu(-3)  # a word sees itself and the three before it
weights = attend(q, k, torch.eye(len(s)), window)
""",
    test=checks.FINITE,
    check="""\
assert weights.isfinite().all()
""",
)
