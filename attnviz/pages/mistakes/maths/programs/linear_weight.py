"""nn.Linear's weight is (out, in)."""

from attnviz.base.words import N_
from attnviz.pages.mistakes.maths import checks
from attnviz.pages.mistakes.maths.mistake import Mistake

MISTAKE = Mistake(
    title=N_("nn.Linear's weight is (out, in)"),
    why=N_(
        "nn.Linear computes x @ weight.T. Papers write x W, and code that carries W over from a paper, from "
        "NumPy or from GPT-2's Conv1D, which keeps (in, out), is transposed without any error when the matrix "
        "is square."
    ),
    code="""\
 def attend(x, q_proj, k_proj):
     d = q_proj.out_features
     q = q_proj(x)
-    k = x @ k_proj.weight
+    k = x @ k_proj.weight.T
     scores = q @ k.mT
     scores = scores / math.sqrt(d)
     weights = scores.softmax(-1)
     return weights
""",
    use="""\
q_proj, k_proj = (nn.Linear(16, 16, bias=False) for _ in range(2))
q_proj.weight.data, k_proj.weight.data = s.w_q.T, s.w_k.T
weights = attend(x, q_proj, k_proj)
""",
    test=checks.TORCH,
    check="""\
expected = F.scaled_dot_product_attention(q_proj(x), k_proj(x), torch.eye(len(s)))
assert torch.allclose(weights, expected, atol=1e-5)
""",
)
