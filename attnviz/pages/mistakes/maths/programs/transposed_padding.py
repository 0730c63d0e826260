"""A padding mask transposed with its batch."""

from attnviz.base.words import N_
from attnviz.pages.mistakes.maths import checks
from attnviz.pages.mistakes.maths.mistake import Mistake

MISTAKE = Mistake(
    title=N_("A padding mask transposed with its batch"),
    why=N_(
        "nn.MultiheadAttention takes x as (T, B, M) unless batch_first is set. Its key_padding_mask is (B, T) "
        "either way. Transposed along with x it fits only a batch of as many sentences as places, and there it "
        "hides other words."
    ),
    code="""\
 def attend(mha, sentences):
     lengths = torch.tensor([len(words) for words in sentences])
     n = int(lengths.max())
     x = nn.utils.rnn.pad_sequence(sentences)  # (T, B, M)
     is_padding = torch.arange(n) >= lengths[:, None]
-    _, weights = mha(x, x, x, key_padding_mask=is_padding.T)
+    _, weights = mha(x, x, x, key_padding_mask=is_padding)
     return weights  # (B, T, T)
""",
    use="""\
mha = nn.MultiheadAttention(16, num_heads=1, bias=False)
mha.in_proj_weight.data = torch.cat([s.w_q.T, s.w_k.T, s.w_v.T])
batch = [x[: n + 1] for n in range(len(s))]  # the first word, the first two, and so on
weights = attend(mha, batch)[-1]
""",
    test=checks.PADDED,
    check="""\
alone = F.scaled_dot_product_attention(q, k, torch.eye(len(s)))
assert torch.allclose(weights, alone, atol=1e-5)
""",
)
