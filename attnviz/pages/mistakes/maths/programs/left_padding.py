"""Padding on the left, positions not shifted."""

from attnviz.base.words import N_
from attnviz.pages.mistakes.maths import checks
from attnviz.pages.mistakes.maths.mistake import Mistake

MISTAKE = Mistake(
    title=N_("Padding on the left, positions not shifted"),
    why=N_(
        "Masking the padding is half of it: a model with absolute positions (learned or sinusoidal) must also "
        "start to count at the first word, or the same sentence means something else in every batch."
    ),
    code="""\
 def attend(x, is_word, w_q, w_k):
     n, width = x.shape
-    place = torch.arange(n)
+    place = is_word.cumsum(0) - 1
     rate = 100.0 ** (-torch.arange(0, width, 2) / width)
     angle = place[:, None] * rate
     x = x + torch.cat([angle.sin(), angle.cos()], -1)
     scores = (x @ w_q) @ (x @ w_k).mT / math.sqrt(width)
     may_attend = is_word & torch.ones(n, n, dtype=torch.bool).tril()
     scores = scores.masked_fill(~may_attend, -torch.inf)
     return scores.softmax(-1)
""",
    use="""\
padded = torch.cat([torch.zeros(3, 16), x])  # three places of padding
is_word = torch.arange(len(padded)) >= 3
weights = attend(padded, is_word, s.w_q, s.w_k)[3:, 3:]
""",
    test=checks.PADDED,
    check="""\
alone = attend(x, torch.ones(len(s), dtype=torch.bool), s.w_q, s.w_k)
assert torch.allclose(weights, alone, atol=1e-5)
""",
)
