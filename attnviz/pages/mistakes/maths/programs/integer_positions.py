"""Sinusoids cast back to integers."""

from attnviz.base.words import N_
from attnviz.pages.mistakes.maths import checks
from attnviz.pages.mistakes.maths.mistake import Mistake

MISTAKE = Mistake(
    title=N_("Sinusoids cast back to integers"),
    why=N_(
        "Positions come from arange and are integers. Casting the encoding to the positions' dtype, not to that "
        "of x, cuts sines and cosines down to 0: adding it changes no shape and raises nothing, and the model "
        "has no places."
    ),
    code="""\
 def encode(n, width):
     place = torch.arange(n)
     rate = 10_000.0 ** (-torch.arange(0, width, 2) / width)
     angle = place[:, None] * rate
     encoding = torch.cat([angle.sin(), angle.cos()], -1)
-    return encoding.to(place.dtype)
+    return encoding.to(rate.dtype)

 def attend(x, w_q, w_k):
     x = x + encode(*x.shape)
     scores = (x @ w_q) @ (x @ w_k).mT
     return (scores / math.sqrt(x.shape[-1])).softmax(-1)
""",
    use="""\
weights = attend(x, s.w_q, s.w_k)
""",
    test=checks.ORDER,
    check="""\
order = torch.cat([torch.tensor([0]), torch.arange(1, len(s)).flip(0)])
assert not torch.allclose(attend(x[order], s.w_q, s.w_k), weights[order][:, order], atol=1e-4)
""",
)
