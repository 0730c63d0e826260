"""// where / was meant."""

from attnviz.base.words import N_
from attnviz.pages.mistakes.maths import checks
from attnviz.pages.mistakes.maths.mistake import Mistake

MISTAKE = Mistake(
    title=N_("// where / was meant"),
    why=N_(
        "One more slash rounds every score down to a whole number. Shapes, dtype and row sums stay right. "
        "PyTorch refuses to differentiate it, so it lives on in code that never trains: inference, evaluation, "
        "NumPy."
    ),
    code="""\
 def attend(q, k, may_attend):
     d = q.shape[-1]
     scores = q @ k.mT
-    scores = scores // math.sqrt(d)
+    scores = scores / math.sqrt(d)
     scores = scores.masked_fill(~may_attend, -torch.inf)
     scores = scores - scores.amax(-1, keepdim=True)
     weights = scores.exp()
     return weights / weights.sum(-1, keepdim=True)
""",
    use="""\
weights = attend(q, k, causal)
""",
    test=checks.TORCH,
    check="""\
full = F.scaled_dot_product_attention(q, k, torch.eye(len(s)), is_causal=True)
assert torch.allclose(weights, full, atol=1e-5)
""",
)
