"""Dropout still on in evaluation."""

from attnviz.base.words import N_
from attnviz.pages.mistakes.maths import checks
from attnviz.pages.mistakes.maths.mistake import Mistake

MISTAKE = Mistake(
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
)
