"""Mistakes with heads."""

from attnviz.base.words import N_
from attnviz.pages.mistakes.maths import checks
from attnviz.pages.mistakes.maths.mistake import Mistake

TITLE = N_("Heads")
MISTAKES = {
    "head_slices": Mistake(
        title=N_("Head slices that overlap"),
        why=N_(
            "i:(i+1)*d starts one coordinate further for each head instead of d. Queries and keys are wrong alike, "
            "so the scores have the right shape, and the heads share most of what they read."
        ),
        code="""\
 def attend(q, k, n_heads):
     d = q.shape[-1] // n_heads
     heads = []
     for i in range(n_heads):
-        cols = slice(i, (i + 1) * d)
+        cols = slice(i * d, (i + 1) * d)
         scores = q[:, cols] @ k[:, cols].mT
         scores = scores / math.sqrt(d)
         heads.append(scores.softmax(-1))
     return torch.stack(heads)
""",
        use="""\
weights = attend(q, k, n_heads=4)
""",
        test=checks.TORCH,
        check="""\
split = lambda t, heads: t.unflatten(-1, (heads, -1)).transpose(0, 1)
values = torch.eye(len(s)).expand(4, -1, -1)
expected = F.scaled_dot_product_attention(split(q, 4), split(k, 4), values)
assert torch.allclose(weights, expected, atol=1e-5)
""",
    ),
    "expanded_heads": Mistake(
        title=N_("expand, or repeat, for groups of heads"),
        why=N_(
            "In grouped-query attention a few K/V heads serve groups of query heads. expand only stretches a "
            "dimension of size 1, so it fails here; repeat, the cure that comes to mind, repeats the list of heads "
            "and not each head."
        ),
        code="""\
 def attend(q, k):
     '''q (H, T, D), k (G, T, D): H query heads share G heads of keys.'''
     d = q.shape[-1]
     group = len(q) // len(k)
-    k = k.repeat(group, 1, 1)
+    k = k.repeat_interleave(group, dim=0)
     scores = q @ k.mT
     scores = scores / math.sqrt(d)
     weights = scores.softmax(-1)
     return weights
""",
        use="""\
split = lambda t, heads: t.unflatten(-1, (heads, -1)).transpose(0, 1)
q, k = split(q, 4), split(k[:, :8], 2)
weights = attend(q, k)
""",
        test=checks.TORCH,
        check="""\
values = torch.eye(len(s)).expand(1, 2, -1, -1)
expected = F.scaled_dot_product_attention(q[None], k[None], values, enable_gqa=True)[0]
assert torch.allclose(weights, expected, atol=1e-5)
""",
    ),
    "query_heads_of_keys": Mistake(
        title=N_("MQA with a key for each query head"),
        why=N_(
            "Multi-query attention has one head of keys and values, so their projections are one head wide. Where "
            "they are left as wide as the queries', a view with -1 makes T x H keys of T words, and the sum over "
            "keys hides it."
        ),
        code="""\
 def attend(x, w_q, w_k, n_heads):
     n, width = x.shape
     d = width // n_heads
     q = (x @ w_q).view(n, n_heads, d)
     q = q.transpose(0, 1)
-    k = (x @ w_k).view(1, -1, d)
+    k = (x @ w_k[:, :d]).view(1, n, d)
     scores = q @ k.mT
     scores = scores / math.sqrt(d)
     return scores.softmax(-1)
""",
        use="""\
made = attend(x, s.w_q, s.w_k, n_heads=4)
weights = made.unflatten(-1, (len(s), -1)).sum(-1)  # what a word's keys get together
""",
        test=checks.SIZES,
        check="""\
assert made.shape == (4, len(s), len(s))
""",
    ),
    "group_num": Mistake(
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
    ),
}
