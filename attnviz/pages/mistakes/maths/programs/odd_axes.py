"""RoPE in three axes, 31 of 32 pairs."""

from attnviz.base.words import N_
from attnviz.pages.mistakes.maths import checks
from attnviz.pages.mistakes.maths.mistake import Mistake

MISTAKE = Mistake(
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
)
