"""-1e9, -inf, or the lowest number."""

from attnviz.base.words import N_
from attnviz.pages.mistakes.maths import checks
from attnviz.pages.mistakes.maths.mistake import Mistake

MISTAKE = Mistake(
    title=N_("-1e9, -inf, or the lowest number"),
    why=N_(
        "A hidden cell should weigh exactly nothing. A large negative number does that until a whole row is "
        "hidden or the dtype is too narrow for it; -inf does it until a row is all -inf, and then 0/0 is NaN."
    ),
    code="""\
 def attend(q, k, may_attend):
     d = q.shape[-1]
     scores = q @ k.mT / math.sqrt(d)
-    scores = scores.masked_fill(~may_attend, -1e9)
+    scores = scores.masked_fill(~may_attend, -torch.inf)
     highest = scores.amax(-1, keepdim=True)
     highest = highest.clamp(min=-1e30)
     weights = (scores - highest).exp()
     total = weights.sum(-1, keepdim=True)
     return weights / total.clamp(min=1e-9)
""",
    use="""\
after_padding = causal & (torch.arange(len(s)) > 0)  # the first place is padding
weights = attend(q, k, after_padding)
""",
    test=checks.HIDDEN,
    check="""\
assert weights[~after_padding].max() == 0
""",
)
