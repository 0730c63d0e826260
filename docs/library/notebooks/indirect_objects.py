# %% [markdown]
# # Indirect objects, with patching
#
# *When Mary and John went to the store, John gave a drink to* … **Mary**. The model must find the name that was said
# once. Wang et al. (2022, "Interpretability in the Wild") took GPT-2 apart on this task. Three of their questions, put
# to SmolLM2-135M: how sure is it, which heads write the answer, and where does the answer come from?

# %%
import pandas as pd
import torch

import attnviz as av

loaded = av.load("smollm2-135m")
model, tokenizer = loaded.model, loaded.tokenizer

clean_text = "When Mary and John went to the store, John gave a drink to"
other_text = "When Mary and John went to the store, Mary gave a drink to"
clean, other = (torch.tensor([tokenizer.encode(each)]) for each in (clean_text, other_text))
mary, john = (tokenizer.encode(each)[0] for each in (" Mary", " John"))
words = [tokenizer.decode(each) for each in clean[0]]

# %% [markdown]
# ## How sure is it?
#
# We measure the lead: the logit of " Mary" minus that of " John". The second sentence differs in one word, and its
# answer is the other name.

# %%


def lead(trace):
    return float(trace.logits[0, mary] - trace.logits[0, john])


clean_trace = av.capture(model, input_ids=clean, residual=True)
other_trace = av.capture(model, input_ids=other)
print(f"lead of Mary: {lead(clean_trace):+.2f} where John gives, {lead(other_trace):+.2f} where Mary gives")

assert clean.shape == other.shape
assert lead(clean_trace) > 2
assert lead(other_trace) < -2

# %% [markdown]
# ## Which heads write it?
#
# Each head adds a vector to the stream at the last token, and each vector pushes the lead up or down.

# %%
found = clean_trace.logit_attribution(av.logit_diff(mary, john))
pushes = found.top(5)
pd.DataFrame(pushes, columns=["layer", "head", "push"]).round(2)

# %% [markdown]
# The same by hand: the final norm's scale is held, and what is left of the way to the lead is one direction.

# %%
with torch.no_grad():
    stream = clean_trace.residual[-1][0, -1]
    scale = torch.rsqrt(stream.pow(2).mean() + model.config.rms_norm_eps)
    rows = model.lm_head.weight
    direction = (rows[mary] - rows[john]) * model.model.norm.weight * scale
    for layer, head, push in pushes:
        added = clean_trace[layer].head_outputs(projected=True)[0, head, -1]
        assert abs(float(added @ direction) - push) < 1e-3
    assert abs(float(stream @ direction) - lead(clean_trace)) < 1e-3

# %% [markdown]
# The head that pushes the lead up most:

# %%
layer, head, push = max(pushes, key=lambda each: each[2])
row = clean_trace[layer].weights(head)[0, 0, -1]
print(f"layer {layer}, head {head} pushes by {push:+.2f} and looks most at {words[int(row.argmax())]!r}")
av.show(clean_trace, words, layer=layer, head=head)

# %% [markdown]
# It looks at the *wrong* name, and helps all the same. Measured against five names that were never said, it leaves Mary
# about where she was and pushes John **down**: it takes away what was said twice.

# %%
never_said = [tokenizer.encode(each)[0] for each in (" Tom", " Anna", " Paul", " Alice", " Bob")]


def against_names(token):
    each = [clean_trace.logit_attribution(av.logit_diff(token, name)).heads[0, layer, head] for name in never_said]
    return float(sum(each) / len(each))


print(f"it adds {against_names(mary):+.2f} to Mary and {against_names(john):+.2f} to John")
assert words[int(row.argmax())] == " John"
assert against_names(john) < -1
assert abs(against_names(mary)) < abs(against_names(john)) / 3

# %% [markdown]
# ## Where does it come from?
#
# **Activation patching**: run the sentence whose answer is John, and let one layer's heads hand on at the last token
# what they handed on in the sentence whose answer is Mary. 0 is no change, 1 is the whole answer brought over.

# %%
start, end = lead(other_trace), lead(clean_trace)


def brought_over(layer, heads="all"):
    patched = av.intervene(model, av.Edit(layer, heads, output=clean_trace, at=-1), input_ids=other)
    return (lead(patched) - start) / (end - start)


by_layer = {layer: brought_over(layer) for layer in range(len(clean_trace))}
strongest = sorted(by_layer, key=by_layer.get, reverse=True)[:3]
table = pd.Series(by_layer, name="brought over").to_frame().rename_axis("layer")
table.nlargest(6, "brought over").round(2)

# %% [markdown]
# And head by head, in the three strongest layers:

# %%
by_head = {(layer, head): brought_over(layer, head) for layer in strongest for head in range(9)}
best = max(by_head, key=by_head.get)
print(f"layer {best[0]}, head {best[1]} alone brings over {by_head[best]:.0%} of the answer")
pd.Series(by_head).unstack().round(2)

# %% [markdown]
# A sum check: if every head of every layer is patched at the last token, nothing that the last token knows of the names
# is the other sentence's any more.

# %%
everything = brought_over("all")
print(f"all heads at once: {everything:.1%}")
assert abs(everything - 1) < 0.01
assert by_head[best] > 0.05
