# %% [markdown]
# # Before and after a LoRA
#
# A LoRA adds a small matrix B A to some linear layers and leaves the rest of the model alone. Here one is trained on
# queries and keys only, so that **all** it can change in its layers is where heads look. Then we look at what moved.

# %%
import json
import random
from pathlib import Path

import numpy as np
import pandas as pd
import torch
from safetensors.torch import save_file
from torch import nn
from torch.nn import functional as F

import attnviz as av

loaded = av.load("smollm2-135m")
model, tokenizer = loaded.model, loaded.tokenizer

# %% [markdown]
# ## The task
#
# Four words, and the answer is the first of them. Nothing in the prompt says so.

# %%
WORDS = ["red", "dog", "tree", "car", "fish", "blue", "house", "cat", "book", "sun", "bird", "door", "milk", "snow"]
rng = random.Random(0)


def prompts(count):
    rows = [rng.sample(WORDS, 4) for _ in range(count)]
    ids = torch.tensor([tokenizer.encode("List: " + ", ".join(row) + ". Answer:") for row in rows])
    return ids, torch.tensor([tokenizer.encode(" " + row[0])[0] for row in rows])


def share_right(trace):
    return float((trace.logits.argmax(-1) == answers).float().mean())


ids, answers = prompts(16)
before = av.capture(model, input_ids=ids)
print(f"{share_right(before):.0%} right before")

# %% [markdown]
# ## The LoRA
#
# Rank 4, on the queries and keys of the last twelve layers. No library: this is all that a LoRA is.


# %%
class Adapted(nn.Module):
    """A linear layer plus B A times alpha / r; at the start B is 0, so nothing has changed."""

    def __init__(self, base, rank=4, alpha=8):
        super().__init__()
        self.base, self.factor = base, alpha / rank
        self.a = nn.Parameter(torch.randn(rank, base.in_features) / base.in_features**0.5)
        self.b = nn.Parameter(torch.zeros(base.out_features, rank))

    def forward(self, x):
        return self.base(x) + F.linear(F.linear(x, self.a), self.b) * self.factor


torch.manual_seed(0)
model.requires_grad_(False)
adapted = {}
for number, block in enumerate(model.model.layers):
    if number >= 18:
        for name in ("q_proj", "k_proj"):
            added = Adapted(getattr(block.self_attn, name))
            setattr(block.self_attn, name, added)
            adapted[f"model.layers.{number}.self_attn.{name}"] = added

optimizer = torch.optim.Adam([each for added in adapted.values() for each in (added.a, added.b)], lr=5e-3)
losses = []
for _ in range(12):
    some_ids, some_answers = prompts(8)
    loss = F.cross_entropy(model(input_ids=some_ids, logits_to_keep=1).logits[:, -1], some_answers)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    losses.append(loss.item())

after = av.capture(model, input_ids=ids)
print(f"loss {losses[0]:.2f} to {losses[-1]:.2f}; {share_right(after):.0%} right after, on prompts not trained on")
assert share_right(before) < 0.5
assert share_right(after) > 0.9

# %% [markdown]
# ## What moved
#
# At the last token, how much weight does each head give to the first word of the list, before and after?

# %%
labels = [tokenizer.decode(each) for each in ids[0]]
first = labels.index(":") + 1


def on_first(trace):
    return np.array([layer.weights()[:, :, -1, first].mean(0).tolist() for layer in trace])


moved = pd.DataFrame({"before": on_first(before).ravel(), "after": on_first(after).ravel()})
moved.index = pd.MultiIndex.from_product([range(len(before)), range(9)], names=["layer", "head"])
moved["more"] = moved.after - moved.before
moved.nlargest(6, "more").round(3)

# %% [markdown]
# Below the first layer with an adapter nothing can have moved, and nothing has:

# %%
assert all(torch.equal(before[layer].weights(), after[layer].weights()) for layer in range(18))
layer, head = moved.more.idxmax()
assert moved.more.max() > 0.3

# %% [markdown]
# The head that moved most, before:

# %%
av.show(before, labels, layer=int(layer), head=int(head))

# %% [markdown]
# and after:

# %%
av.show(after, labels, layer=int(layer), head=int(head))

# %% [markdown]
# ## Does it carry the answer?
#
# Heads that moved need not matter. Put the earlier weights back into the heads that moved most, one more at a time, and
# count the right answers.

# %%
order = moved.more.abs().sort_values(ascending=False).index.tolist()


def put_back(many):
    edits = [av.Edit(layer, head, weights=before[layer].weights(head)) for layer, head in order[:many]]
    return av.intervene(model, edits, input_ids=ids)


counts = {many: share_right(put_back(many)) for many in (5, 20, 60)}
print(counts)
assert counts[60] < share_right(after) / 2

# %% [markdown]
# ## Saved as an adapter, and read back
#
# A folder as PEFT saves it is read by `av.load`, and by the explorer: type its path there, beside the base.

# %%
folder = Path("first-of-four").resolve()
folder.mkdir()
tensors = {}
for name, added in adapted.items():
    tensors[f"base_model.model.{name}.lora_A.weight"] = added.a.detach()
    tensors[f"base_model.model.{name}.lora_B.weight"] = added.b.detach()
save_file(tensors, folder / "adapter_model.safetensors")
settings = {"peft_type": "LORA", "base_model_name_or_path": "smollm2-135m", "r": 4, "lora_alpha": 8}
settings["target_modules"] = list(adapted)
(folder / "adapter_config.json").write_text(json.dumps(settings))

again = av.capture(av.load(str(folder)).model, input_ids=ids)
difference = float((again.logits - after.logits).abs().max())
print(f"largest difference of a logit: {difference:.0e}")
assert difference < 1e-2
