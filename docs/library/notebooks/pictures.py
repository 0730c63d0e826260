# %% [markdown]
# # A picture model
#
# A vision transformer cuts a picture into patches and lets them look at each other. The small ViT that comes with
# attnviz reads one handwritten digit of 8 × 8 pixels, and each pixel is a patch: 64 tokens and a class token, from
# which the answer is read.

# %%
from io import BytesIO

import numpy as np
import torch
from IPython.display import SVG
from PIL import Image
from transformers import ViTForImageClassification

import attnviz as av
from attnviz.canvas.patch_view import PatchChoices, PatchFigure, PatchScene
from attnviz.live.scene_figure import SceneFigure
from attnviz.models.pictures import held_out_digits, prepare

loaded = av.load("digit-vit")
digits = held_out_digits()  # the fifth of the data set that the model has not learned from

# %% [markdown]
# ## Does it read?

# %%
inputs = torch.cat([prepare(loaded, each).inputs["pixel_values"] for each in digits.pictures])
trace = av.capture(loaded.model, pixel_values=inputs)
right = float((trace.logits.argmax(-1).numpy() == digits.labels).mean())
print(f"{right:.1%} of {len(digits.labels)} unseen digits; layers of {trace[0].shape[1]} heads: {len(trace)}")
assert right > 0.9

# %% [markdown]
# ## Where does the class token look?
#
# The last layer, every head, for one seven. Light is weight.

# %%
place = digits.like(7)
last = trace[-1].weights()[place]  # (head, query, key)
png = BytesIO()
Image.fromarray((digits.pictures[place] * 15.9).astype(np.uint8)).save(png, "png")
picture = PatchScene(
    png.getvalue(), "image/png", (8, 8), (8, 8, 1), ("class",), None, (4,), maps=last[:, 0], smooth=False
)
heads = [PatchFigure(picture, PatchChoices(), f"head {number}", row[0], side=150) for number, row in enumerate(last)]
SVG(SceneFigure(tuple(heads)).to_svg(title="the class token"))

# %% [markdown]
# Do heads look at ink? Over all held-out digits, the weight that the class token gives to pixels with ink, beside the
# share of such pixels, which an even look would give. One head looks past the ink, at the paper:

# %%
ink = torch.from_numpy(digits.pictures.reshape(len(digits.pictures), -1) > 4)
to_patches = trace[-1].weights()[:, :, 0, 1:]  # (picture, head, patch)
to_patches = to_patches / to_patches.sum(-1, keepdim=True)
on_ink = (to_patches * ink[:, None]).sum(-1).mean(0)
even = ink.float().mean()
print("on ink, by head:", [f"{each:.2f}" for each in on_ink.tolist()], f"even: {even:.2f}")
assert on_ink.min() < 0.75 * even

# %% [markdown]
# ## The same in the live picture
#
# Patches are tokens, so every head, mask and scale can be tried on them. Labels say row and column.

# %%
names = ["class"] + [f"{row},{column}" for row in range(1, 9) for column in range(1, 9)]
one = av.capture(loaded.model, pixel_values=inputs[place : place + 1])
av.show(one, names, layer=len(one) - 1, head=int(on_ink.argmax()))

# %% [markdown]
# ## Covering patches
#
# A mask on recorded attention: no token may look at one half of the picture, in any layer. Which half does the reading
# need?

# %%
rows, columns = np.divmod(np.arange(64), 8)
halves = {"top": rows < 4, "bottom": rows >= 4, "left": columns < 4, "right": columns >= 4}


def right_without(covered):
    seen = torch.from_numpy(np.append(True, ~covered))[None]  # the class token stays
    trace = av.intervene(loaded.model, av.Edit(mask=seen), pixel_values=inputs)
    for layer in trace:
        assert layer.weights()[..., ~seen[0]].abs().max() == 0
    return float((trace.logits.argmax(-1).numpy() == digits.labels).mean())


shares = {name: right_without(covered) for name, covered in halves.items()}
for name, share in shares.items():
    print(f"without the {name} half: {share:.1%} right")
assert max(shares.values()) < right

# %% [markdown]
# ## Checked against transformers
#
# The weights are those of the model's own eager path.

# %%
eager = ViTForImageClassification(loaded.model.config).eval()
eager.load_state_dict(loaded.model.state_dict())
eager.set_attn_implementation("eager")
with torch.no_grad():
    told = eager(pixel_values=inputs[:8], output_attentions=True).attentions
difference = max(float((layer.weights()[:8] - each).abs().max()) for layer, each in zip(trace, told, strict=True))
print(f"largest difference: {difference:.0e}")
assert difference < 1e-5
