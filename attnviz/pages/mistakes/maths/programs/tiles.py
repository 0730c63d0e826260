"""Mistakes with tiles."""

from attnviz.base.words import N_
from attnviz.pages.mistakes.maths import checks
from attnviz.pages.mistakes.maths.mistake import Mistake

TITLE = N_("Tiles")
MISTAKES = {
    "no_maximum": Mistake(
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
    ),
    "mask_late": Mistake(
        title=N_("The mask comes after the sum"),
        why=N_(
            "Hidden scores must be −∞ before the tile’s maximum and sum are taken. Weights that are set to 0 "
            "afterwards are gone from the output, but not from the sum."
        ),
        code="""\
 def attend(q, k, v, may_attend, block=4):
     top = q.new_full((len(q), 1), torch.finfo(q.dtype).min)
     total, output = q.new_zeros(len(q), 1), q.new_zeros(len(q), v.shape[-1])
     for start in range(0, len(k), block):
         cols = slice(start, start + block)
         scores = q @ k[cols].mT / math.sqrt(q.shape[-1])
         new = torch.maximum(top, scores.amax(-1, keepdim=True))
         weights, shrink = (scores - new).exp(), (top - new).exp()
-        total = total * shrink + weights.sum(-1, keepdim=True)
-        weights = weights.masked_fill(~may_attend[:, cols], 0)
+        weights = weights.masked_fill(~may_attend[:, cols], 0)
+        total = total * shrink + weights.sum(-1, keepdim=True)
         output = output * shrink + weights @ v[cols]
         top = new
     return output / total.clamp(min=1e-4)
""",
        use="""\
weights = attend(q, k, torch.eye(len(s)), causal)
""",
        test=checks.ROWS,
        check="""\
assert torch.allclose(weights.sum(-1), torch.ones(len(s)))
""",
    ),
    "last_tile": Mistake(
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
    ),
    "skipped": Mistake(
        title=N_("One causal tile too many is skipped"),
        why=N_(
            "Under a causal mask tiles above the diagonal are skipped, nearly half of the work. The tile that the "
            "diagonal cuts is needed: the number of tiles is rounded up."
        ),
        code="""\
 def attend(q, k, rows=2, block=4):
     weights = torch.zeros(len(q), len(k))
     for first in range(0, len(q), rows):
         end = min(first + rows, len(q))
-        tiles = end // block
+        tiles = math.ceil(end / block)
         cols = slice(0, tiles * block)
         scores = q[first:end] @ k[cols].mT / math.sqrt(q.shape[-1])
         later = torch.arange(len(k))[cols] > torch.arange(first, end)[:, None]
         scores = scores.masked_fill(later, -torch.inf)
         weights[first:end, cols] = scores.softmax(-1)
     return weights
""",
        use="""\
weights = attend(q, k)
""",
        test=checks.TORCH,
        check="""\
full = F.scaled_dot_product_attention(q, k, torch.eye(len(s)), is_causal=True)
assert torch.allclose(weights, full, atol=1e-5)
""",
    ),
    "empty_row": Mistake(
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
    ),
}
