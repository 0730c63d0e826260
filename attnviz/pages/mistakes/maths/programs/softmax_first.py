"""Softmax before masking."""

from attnviz.base.words import N_
from attnviz.pages.mistakes.maths import checks
from attnviz.pages.mistakes.maths.mistake import Mistake

MISTAKE = Mistake(
    title=N_("Softmax before masking"),
    why=N_(
        "Zeroing weights after the softmax hides a word's value and keeps its vote: it was counted in the "
        "denominator, so rows sum to less than 1 and depend on what they may not see."
    ),
    code="""\
 def attend(q, k, may_attend):
     d = q.shape[-1]
     scores = q @ k.mT / math.sqrt(d)
     highest = scores.amax(-1, keepdim=True)
     weights = (scores - highest).exp()
-    weights = weights / weights.sum(-1, keepdim=True)
-    weights = weights * may_attend
+    weights = weights * may_attend
+    weights = weights / weights.sum(-1, keepdim=True)
     return weights
""",
    use="""\
weights = attend(q, k, causal)
""",
    test=checks.ROWS,
    check="""\
assert torch.allclose(weights.sum(-1), torch.ones(len(s)))
""",
)
