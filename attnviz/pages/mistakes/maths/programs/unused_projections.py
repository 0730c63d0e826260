"""Projections built, never applied."""

from attnviz.base.words import N_
from attnviz.pages.mistakes.maths import checks
from attnviz.pages.mistakes.maths.mistake import Mistake

MISTAKE = Mistake(
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
)
