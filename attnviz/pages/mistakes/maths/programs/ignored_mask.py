"""A mask accepted and ignored."""

from attnviz.base.words import N_
from attnviz.pages.mistakes.maths import checks
from attnviz.pages.mistakes.maths.mistake import Mistake

MISTAKE = Mistake(
    title=N_("A mask accepted and ignored"),
    why=N_(
        "masked_fill without the underscore returns a new tensor. The argument is accepted, nothing fails, and "
        "the model reads the future. The same happens to a keyword that a function swallows with **kwargs. Test "
        "that changing a hidden word changes nothing."
    ),
    code="""\
 def attend(q, k, mask=None):
     d = q.shape[-1]
     scores = q @ k.mT
     scores = scores / math.sqrt(d)
     if mask is not None:
-        scores.masked_fill(~mask, -torch.inf)
+        scores = scores.masked_fill(~mask, -torch.inf)
     weights = scores.softmax(-1)
     return weights
""",
    use="""\
weights = attend(q, k, causal)
""",
    test=checks.FUTURE,
    check="""\
assert weights.triu(1).max() == 0
""",
)
