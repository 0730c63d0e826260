# %% [markdown]
# # A plain torch model
#
# `av.capture` takes any torch model whose attention goes through torch's own functions. Here a small
# `nn.TransformerEncoder` learns to turn a row of digits around, and we look at how it does it.

# %%
import torch
from torch import nn
from torch.nn import functional as F

import attnviz as av

LENGTH = 8


class Turner(nn.Module):
    """Writes at each place the digit that stands as far from the other end."""

    def __init__(self):
        super().__init__()
        self.digits, self.places = nn.Embedding(10, 48), nn.Embedding(LENGTH, 48)
        layer = nn.TransformerEncoderLayer(48, nhead=4, dim_feedforward=96, dropout=0.0, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, num_layers=1)
        self.out = nn.Linear(48, 10)

    def forward(self, digits):
        return self.out(self.encoder(self.digits(digits) + self.places.weight))


# %%
torch.manual_seed(0)
model = Turner()
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
for _ in range(400):
    digits = torch.randint(10, (64, LENGTH))
    loss = F.cross_entropy(model(digits).transpose(1, 2), digits.flip(1))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

model.eval()
fresh = torch.randint(10, (500, LENGTH))
with torch.no_grad():
    right = (model(fresh).argmax(-1) == fresh.flip(1)).float().mean()
print(f"{right:.1%} of the digits are right, in rows that it has not seen")
assert right > 0.99

# %% [markdown]
# ## Look
#
# One call, no change to the model. Layers carry the path of their module.

# %%
trace = av.capture(model, fresh)
print([layer.name for layer in trace])

weights = trace[0].weights()  # (row, head, query, key)
turned = torch.arange(LENGTH).flip(0)
on_turned = weights[:, :, torch.arange(LENGTH), turned].mean((0, 2))
best = int(on_turned.argmax())
print("weight on the place to be copied, by head:", [f"{each:.2f}" for each in on_turned.tolist()])
assert on_turned[best] > 0.5

# %%
av.show(trace, [str(each) for each in fresh[0].tolist()], layer=0, head=best)

# %% [markdown]
# The weights are those of `nn.MultiheadAttention` itself, which gives them when it is asked:

# %%
with torch.no_grad():
    x = model.digits(fresh) + model.places.weight
    _, told = model.encoder.layers[0].self_attn(x, x, x, need_weights=True, average_attn_weights=False)
difference = float((told - weights).abs().max())
print(f"largest difference: {difference:.0e}")
assert difference < 1e-5

# %% [markdown]
# ## Another scale, after the fact
#
# Q and K are recorded, so any mask and any scale can be tried on them without the model.

# %%
sharp = trace[0].weights(best)
flat = trace[0].weights(best, scale=trace[0].scale / 4)
turned_sharp, turned_flat = (each[:, 0, torch.arange(LENGTH), turned].mean() for each in (sharp, flat))
print(f"on the place to be copied: {turned_sharp:.2f}, and {turned_flat:.2f} with a quarter of the scale")
assert turned_flat < turned_sharp

# %% [markdown]
# ## A model that writes its own softmax
#
# It is followed from the product of queries and keys to the softmax: scale, bias and mask are found, and another scale
# can be tried.


# %%
class OwnAttention(nn.Module):
    """Attention as nanoGPT wrote it before torch had a function for it."""

    def __init__(self):
        super().__init__()
        self.qkv = nn.Linear(48, 3 * 48)

    def forward(self, x):
        q, k, v = (part.unflatten(-1, (4, 12)).transpose(1, 2) for part in self.qkv(x).chunk(3, -1))
        return self.attention(q, k, v).transpose(1, 2).flatten(2)

    def attention(self, q, k, v):
        future = torch.ones(q.shape[2], k.shape[2], dtype=torch.bool).triu(1)
        scores = (q @ k.mT / q.shape[-1] ** 0.5).masked_fill(future, float("-inf"))
        return scores.softmax(-1) @ v


own = OwnAttention().eval()
x = torch.randn(2, LENGTH, 48)
written_out = av.capture(own, x)
print(written_out[0], "scaled by", round(written_out[0].scale, 3))
scaled, unscaled = written_out[0].weights()[:, :, -1], written_out[0].weights(scale=None)[:, :, -1]
print(f"largest weight of the last query: {scaled.max():.2f}, and {unscaled.max():.2f} without the scale")
assert unscaled.max() > scaled.max()

# %% [markdown]
# Where more happens to the scores, as under this cap, the weights alone are recorded, and another scale cannot be
# tried. What cannot be seen at all is refused, with what to do about it, and never left out in silence.


# %%
class CappedAttention(OwnAttention):
    def attention(self, q, k, v):
        future = torch.ones(q.shape[2], k.shape[2], dtype=torch.bool).triu(1)
        scores = (q @ k.mT / q.shape[-1] ** 0.5 / 0.2).tanh() * 0.2
        return scores.masked_fill(future, float("-inf")).softmax(-1) @ v


capped = CappedAttention().eval()
weights_only = av.capture(capped, x)
print(weights_only[0], "-", weights_only[0].why)
refused = ""
try:
    weights_only[0].weights(scale=None)
except ValueError as problem:
    refused = str(problem)
print(refused)
assert "weights only" in refused

# %% [markdown]
# With `av.attend` in its place everything is there:


# %%
class SeenAttention(CappedAttention):
    def attention(self, q, k, v):
        future = torch.ones(q.shape[2], k.shape[2], dtype=torch.bool).triu(1)
        return av.attend(q, k, v, ~future, softcap=0.2).output


seen = SeenAttention().eval()
seen.load_state_dict(capped.state_dict())
with torch.no_grad():
    assert torch.allclose(seen(x), capped(x), atol=1e-5)
trace = av.capture(seen, x)
assert torch.allclose(trace[0].weights(), weights_only[0].weights(), atol=1e-5)
trace[0]
