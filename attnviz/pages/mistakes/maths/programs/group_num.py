"""A number of groups that is not handed on."""

from attnviz.base.words import N_
from attnviz.pages.mistakes.maths import checks
from attnviz.pages.mistakes.maths.mistake import Mistake

MISTAKE = Mistake(
    title=N_("A number of groups that is not handed on"),
    why=N_(
        "A class for grouped-query attention takes the number of K/V heads, and must give it to the class that "
        "it is built on. Forgotten, the default stands: GQA is MHA, or MQA, and says so nowhere."
    ),
    code="""\
 class SharedKeys(nn.Module):
     def __init__(self, width, n_heads, group_num=None):
         super().__init__()
         self.groups = group_num or n_heads
         self.k_proj = nn.Linear(width, self.groups * width // n_heads, bias=False)

     def forward(self, q, x):
         k = self.k_proj(x).unflatten(-1, (self.groups, -1)).transpose(0, 1)
         k = k.repeat_interleave(len(q) // self.groups, dim=0)
         return (q @ k.mT / math.sqrt(q.shape[-1])).softmax(-1)

 class GroupedQueryAttention(SharedKeys):
     def __init__(self, width, n_heads, group_num):
-        super().__init__(width, n_heads)
+        super().__init__(width, n_heads, group_num)
""",
    use="""\
layer = GroupedQueryAttention(16, n_heads=4, group_num=2)
layer.k_proj.weight.data = s.w_k.T[: layer.k_proj.out_features]
weights = layer(q.unflatten(-1, (4, -1)).transpose(0, 1), x)
""",
    test=checks.SIZES,
    check="""\
assert layer.k_proj.weight.shape == (8, 16)
""",
)
