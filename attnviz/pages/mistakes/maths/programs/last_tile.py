"""The last tile is not masked."""

from attnviz.base.words import N_
from attnviz.pages.mistakes.maths import checks
from attnviz.pages.mistakes.maths.mistake import Mistake

MISTAKE = Mistake(
    title=N_("The last tile is not masked"),
    why=N_(
        "Lengths are seldom a multiple of the tile. What fills up the last one must be masked: a key of zeros "
        "has the score 0, and e^0 is 1."
    ),
    code="""\
 def attend(q, k, v, block=4):
     fill = -len(k) % block
-    is_key = F.pad(torch.ones(len(k)), (0, fill), value=1) == 1
+    is_key = F.pad(torch.ones(len(k)), (0, fill), value=0) == 1
     k, v = F.pad(k, (0, 0, 0, fill)), F.pad(v, (0, 0, 0, fill))
     total, output = 0, 0
     for start in range(0, len(k), block):
         cols = slice(start, start + block)
         scores = q @ k[cols].mT / math.sqrt(q.shape[-1])
         weights = scores.masked_fill(~is_key[cols], -torch.inf).exp()
         total = total + weights.sum(-1, keepdim=True)
         output = output + weights @ v[cols]
     return output / total
""",
    use="""\
weights = attend(q, k, torch.eye(len(s)))
""",
    test=checks.ROWS,
    check="""\
assert torch.allclose(weights.sum(-1), torch.ones(len(s)))
""",
)
