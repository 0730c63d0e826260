"""Mistakes in scores and layers."""

from attnviz.base.words import N_
from attnviz.pages.mistakes.maths import checks
from attnviz.pages.mistakes.maths.mistake import Mistake

TITLE = N_("Scores and layers")
MISTAKES = {
    "floor_division": Mistake(
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
    ),
    "linear_weight": Mistake(
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
    ),
    "unused_projections": Mistake(
        title=N_("Projections built, never applied"),
        why=N_(
            "The module has its three matrices, the parameter count is right, the shapes are right, and x attends "
            "to x. Test that every parameter gets a gradient, not that shapes agree."
        ),
        code="""\
 class Attention(nn.Module):
     def __init__(self, width):
         super().__init__()
         self.q_proj = nn.Linear(width, width, bias=False)
         self.k_proj = nn.Linear(width, width, bias=False)

     def forward(self, x):
-        q, k = x, x
+        q, k = self.q_proj(x), self.k_proj(x)
         d = q.shape[-1]
         scores = q @ k.mT / math.sqrt(d)
         return scores.softmax(-1)
""",
        use="""\
module = Attention(16)
module.q_proj.weight.data, module.k_proj.weight.data = s.w_q.T, s.w_k.T
weights = module(x)
""",
        test=checks.GRADIENT,
        check="""\
module(x.clone().requires_grad_())[:, 0].sum().backward()
assert all(weight.grad is not None for weight in module.parameters())
""",
    ),
    "dropout_in_eval": Mistake(
        title=N_("Dropout still on in evaluation"),
        why=N_(
            "model.eval() switches modules, not numbers: dropout_p of F.scaled_dot_product_attention acts whenever "
            "it is not 0, and F.dropout(x, p) has training=True by default."
        ),
        code="""\
 class Attention(nn.Module):
     def __init__(self, dropout):
         super().__init__()
         self.dropout = dropout

     def forward(self, q, k):
         d = q.shape[-1]
         scores = q @ k.mT / math.sqrt(d)
         weights = scores.softmax(-1)
-        return F.dropout(weights, self.dropout)
+        return F.dropout(weights, self.dropout, self.training)
""",
        use="""\
module = Attention(dropout=0.3).eval()
weights = module(q, k)
""",
        test=checks.TWICE,
        check="""\
assert torch.equal(weights, module(q, k))
""",
    ),
}
