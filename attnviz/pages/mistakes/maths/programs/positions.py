"""Mistakes with positions."""

from attnviz.base.words import N_
from attnviz.pages.mistakes.maths import checks
from attnviz.pages.mistakes.maths.mistake import Mistake

TITLE = N_("Positions")
MISTAKES = {
    "integer_positions": Mistake(
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
    ),
    "left_padding": Mistake(
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
    ),
    "odd_axes": Mistake(
        title=N_("RoPE in three axes, 31 of 32 pairs"),
        why=N_(
            "For video, RoPE gives time, row and column a share of a head's coordinates each, and turns them in "
            "pairs. A third of 64 is no even number: divide the pairs among the axes, not the coordinates."
        ),
        code="""\
 def turn(x, place):
     pairs = x.shape[-1] // 2
     angle = place[:, None] * 100.0 ** (-torch.arange(pairs) / pairs)
     a, b, rest = x.split((pairs, pairs, x.shape[-1] - 2 * pairs), -1)
     cos, sin = angle.cos(), angle.sin()
     return torch.cat([a * cos - b * sin, a * sin + b * cos, rest], -1)

 def rotate(x, places):  # frame, row and column of each word
-    third = x.shape[-1] // 3
+    third = x.shape[-1] // 6 * 2
     axes = x.split((x.shape[-1] - 2 * third, third, third), -1)
     return torch.cat([turn(*pair) for pair in zip(axes, places)], -1)
""",
        use="""\
place = torch.arange(len(s))
places = (place // 9, place // 3 % 3, place % 3)
wide_q, wide_k = torch.cat([q, k, s.v, x], -1), torch.cat([k, q, x, s.v], -1)  # 64 wide
weights = (rotate(wide_q, places) @ rotate(wide_k, places).mT / 8).softmax(-1)
""",
        test=checks.TURNS,
        check="""\
one = torch.ones(1)
assert (rotate(torch.ones(1, 64), (one, one, one)) != 1).all()
""",
    ),
}
