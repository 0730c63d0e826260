# %% [markdown]
# # Induction heads
#
# A language model that reads `A B … A` often says `B`: it has seen the pair before. The heads that do this are called
# **induction heads**. Here we find them in SmolLM2-135M, look at the strongest one, and switch them off.
#
# The numbers below come from running this notebook. Every claim in the text is followed by an `assert`.

# %%
import torch

import attnviz as av

loaded = av.load("smollm2-135m")

# %% [markdown]
# ## Text that repeats
#
# Random tokens mean nothing, so the only way to guess the second half is to look the first half up.

# %%
torch.manual_seed(0)
first = torch.randint(1000, 20_000, (4, 24))
repeated = torch.cat([first, first], dim=1)

table = av.find_heads(loaded, [repeated], patterns=("previous_token", "induction"))
table

# %% [markdown]
# An induction head at the second `A` gives its weight to the token **after** the first `A`. The same score from the
# weights themselves, for the head on top:

# %%
trace = av.capture(loaded.model, logits="all", input_ids=repeated)
best = table.top(1, "induction")[0]

weights = trace[best.layer].weights(best.head)[:, 0]  # (sentence, query, key)
queries = torch.arange(24, 48)
by_hand = weights[:, queries, queries - 24 + 1].mean()

assert abs(float(by_hand) - best.mean) < 1e-5
assert best.mean > 0.8
print(f"layer {best.layer}, head {best.head}: {float(by_hand):.3f} of the weight, one place after the earlier copy")

# %% [markdown]
# ## The picture
#
# The stripe beside the diagonal is induction. In a running notebook this picture is live: choose another head, lift
# the mask, move the scale. In a saved one you see it still.

# %%
short = torch.cat([first[:1, :9], first[:1, :9]], dim=1)
words = [loaded.tokenizer.decode(each) for each in short[0]]
av.show(av.capture(loaded.model, input_ids=short), words, layer=best.layer, head=best.head)

# %% [markdown]
# ## Without them
#
# If these heads do the copying, the model must lose the second half when they are silent, and lose less when as many
# other heads of the same layers are.

# %%
chosen = {(each.layer, each.head) for each in table.top(20, "induction")}
weakest = [each for each in reversed(table.top(270, "induction")) if each.layer in {layer for layer, _ in chosen}]
others = {(each.layer, each.head) for each in weakest[: len(chosen)]}


def loss(trace):
    """Nats per token, of the second half."""
    predicted = trace.logits[:, 23:-1].log_softmax(-1)
    return -float(predicted.gather(-1, repeated[:, 24:, None]).mean())


def without(heads):
    edits = [av.Edit(layers=layer, heads=head, silence=True) for layer, head in sorted(heads)]
    return loss(av.intervene(loaded.model, edits, logits="all", input_ids=repeated))


before, silent, control = loss(trace), without(chosen), without(others)
print(f"nats per token of the second half: {before:.2f} as it is")
print(f"  {silent:.2f} without the {len(chosen)} strongest induction heads")
print(f"  {control:.2f} without the {len(others)} weakest heads of the same layers")

assert not chosen & others
assert silent - before > 3 * abs(control - before)

# %% [markdown]
# What each head costs on its own, over any text: `av.cost_of_heads`. All of it in short:
# [docs/library/notebook.md](../notebook.md).
