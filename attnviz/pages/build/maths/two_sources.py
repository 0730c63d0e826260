"""Cross-attention over a text and a picture: own projections for each, q and k normalised, the two results summed."""

from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Literal

import numpy as np
import torch
from torch import Tensor, nn

from attnviz.analysis.word_vectors import random_normal
from attnviz.core.heads import HeadLayout
from attnviz.core.modules import Attention
from attnviz.core.projections import join_heads
from attnviz.models.pictures import held_out_digits, sample, split_into_patches
from attnviz.pages.build.maths.inputs import check_words, python_literal, random_vectors, widths

SIDE = 2  #: pixels along the side of a patch
PHOTO_SIDE, BRIGHTEST = 32, 16  #: of a photograph made small: pixels along its side, and its largest count
NORM_EPS = 1e-6
#: normalised: queries and both sources' keys; all but the picture's keys; nothing
Norms = Literal["both", "text", "none"]
NORMS: tuple[Norms, ...] = ("both", "text", "none")


@dataclass(frozen=True)
class Config:
    """Queries from `tokens`; keys and values from the words of `text` and from the patches of a picture.

    The picture is a handwritten digit; or the photograph of this id (`models.pictures.SAMPLES`), with a token before
    its patches that stands for the whole, as an encoder of pictures hands on: 257 in all.
    """

    tokens: tuple[str, ...] = ("the", "cat", "sat", "down")
    text: tuple[str, ...] = ("le", "chat", "noir")
    layout: HeadLayout = field(default_factory=lambda: HeadLayout(4, 2))
    digit: int = 3
    photo: str = ""
    norms: Norms = "both"
    factor: float = 1.0  #: of the picture's contribution, before the sum
    seed: int = 4


@dataclass(frozen=True, eq=False)
class Result:
    """Contributions of each source, and differences between the paths and between the choices of norms."""

    config: Config
    pixels: np.ndarray  #: (8, 8) or (32, 32) counts from 0 to 16
    patches: np.ndarray  #: (P, 4): counts of each patch of 2 x 2, row by row; before those of a photograph their mean
    vectors: tuple[np.ndarray, np.ndarray]  #: of the queries' words (Q, M) and of the text's (K, M)
    weights: dict[str, np.ndarray]  #: the matrices W_Q, W_K, W_V, W_Kp, W_Vp, W_O, as in x @ W
    on_text: np.ndarray  #: (H, Q, K), rows sum to 1
    on_picture: np.ndarray  #: (H, Q, P), rows sum to 1 as well
    from_text: np.ndarray  #: (Q, M): the text's contribution, after W_O
    from_picture: np.ndarray  #: (Q, M): the picture's contribution, times the factor, after W_O
    output: np.ndarray  #: (Q, M): the two added
    key_lengths: tuple[float, float]  #: the mean length of a key that is used: of the text, of the picture
    without_ink: int  #: patches that hold no ink: their keys are 0, with a norm or without
    fused_difference: float  #: between the explicit path and torch's fused kernels
    output_change: (
        float  #: the largest change of the output when the picture's keys alone are not normalised, instead of both
    )


@lru_cache(maxsize=64)
def run(config: Config) -> Result:
    """One pass, explicit and fused. The result is shared: do not write into its arrays."""
    check_words(config.tokens, config.text)
    pixels = _pixels(config)
    patches = torch.from_numpy(split_into_patches(pixels, SIDE)).float()
    if config.photo:
        patches = torch.cat([patches.mean(0, keepdim=True), patches])
    x, text = (
        random_vectors(sentence, config.seed, config.layout.d_model) for sentence in (config.tokens, config.text)
    )
    parameters = weights(config)
    with torch.no_grad():
        layer = module(config, parameters)
        on_text, on_picture = layer.stages(x, text, side=patches)
        output = layer(x, text, side=patches)
        from_text, from_picture = (layer.o_proj(join_heads(stages.output)) for stages in (on_text, on_picture))
        fused = module(config, parameters, use_fused=True)(x, text, side=patches)
        both, without = (
            module(replace(config, norms=norms), parameters)(x, text, side=patches) for norms in ("both", "text")
        )
        of_text, of_picture = (
            float(source.k.transpose(-3, -2).flatten(-2).norm(dim=-1).mean())
            for source in layer.sources(x, text, side=patches)
        )
    return Result(
        config,
        pixels,
        patches.numpy(),
        (x.numpy(), text.numpy()),
        {name: matrix.numpy() for name, matrix in parameters.items()},
        on_text.weights.numpy(),
        on_picture.weights.numpy(),
        from_text.numpy(),
        config.factor * from_picture.numpy(),
        output.numpy(),
        (of_text, of_picture),
        int((patches.sum(-1) == 0).sum()),
        float((fused - output).abs().max()),
        float((both - without).abs().max()),
    )


def _pixels(config: Config) -> np.ndarray:
    """Counts from 0 to 16: of ink in a digit, of light in the middle of a photograph."""
    if not config.photo:
        digits = held_out_digits()
        return digits.pictures[digits.like(config.digit)]
    light = sample(config.photo).pixels.mean(-1)
    block = min(light.shape) // PHOTO_SIDE
    top, left = ((length - block * PHOTO_SIDE) // 2 for length in light.shape)
    square = light[top : top + block * PHOTO_SIDE, left : left + block * PHOTO_SIDE]
    return np.rint(square.reshape(PHOTO_SIDE, block, PHOTO_SIDE, block).mean((1, 3)) * BRIGHTEST / 255).astype(int)


def module(config: Config, parameters: dict[str, Tensor], use_fused: bool = False) -> Attention:
    """The layer with these weights; the weights of the norms are 1, as before any training."""
    layer = Attention(
        config.layout,
        side_input=SIDE**2,
        side_scale=config.factor,
        qk_norm=None if config.norms == "none" else "full",
        norm_eps=NORM_EPS,
        use_fused=use_fused,
    )
    if config.norms == "text":
        layer.side_k_norm = nn.Identity()
    names = {
        "W_Q": "qkv.q_proj", "W_K": "qkv.k_proj", "W_V": "qkv.v_proj",
        "W_Kp": "side_k_proj", "W_Vp": "side_v_proj", "W_O": "o_proj",
    }  # fmt: skip
    turned = {f"{where}.weight": parameters[name].T for name, where in names.items()}  # nn.Linear keeps (out, in)
    layer.load_state_dict(layer.state_dict() | turned)
    return layer


def weights(config: Config) -> dict[str, Tensor]:
    """Random matrices by the seed, rounded to one decimal; the picture's keys and values have two of their own."""
    layout = config.layout
    q, k, v = widths(layout)
    shapes = {
        "W_Q": (layout.d_model, q), "W_K": (layout.d_model, k), "W_V": (layout.d_model, v),
        "W_Kp": (SIDE**2, k), "W_Vp": (SIDE**2, v), "W_O": (layout.n_heads * layout.v_width, layout.d_model),
    }  # fmt: skip
    small = {"W_Vp": 0.1}  # counts reach 16: the values of patch and word are to be of one size
    return {
        name: (random_normal(config.seed * 10 + at, *shape) * 1.6 / shape[0] ** 0.5 * small.get(name, 1.0)).round(
            decimals=2
        )
        + 0.0  # turns -0.0 into 0.0
        for at, (name, shape) in enumerate(shapes.items())
    }


def program(result: Result) -> str:
    """Source that computes the same with torch alone, and prints the output."""
    config, layout = result.config, result.config.layout
    shared = ", enable_gqa=True" if layout.heads_per_kv > 1 else ""
    normed = {"both": (True, True), "text": (True, False), "none": (False, False)}[config.norms]
    q, k, k_picture = (
        f"norm({name})" if used else name
        for name, used in (("x @ W_Q", normed[0]), ("text @ W_K", normed[0]), ("picture @ W_Kp", normed[1]))
    )
    lines = [
        "import torch",
        "import torch.nn.functional as F",
        "",
        *(f"{name} = torch.tensor({python_literal(matrix)})" for name, matrix in result.weights.items()),
        f"x = torch.tensor({python_literal(result.vectors[0])})  # Q, M",
        f"text = torch.tensor({python_literal(result.vectors[1])})  # K, M",
        f"pixels = torch.tensor({result.pixels.tolist()}).float()",
        f"cut = pixels.unfold(0, {SIDE}, {SIDE}).unfold(1, {SIDE}, {SIDE})  # patches of {SIDE} x {SIDE}",
        f"picture = cut.flatten(2).flatten(0, 1)  # P, {SIDE**2}",
        *(
            ["picture = torch.cat([picture.mean(0, keepdim=True), picture])  # one token for the whole before them"]
            if config.photo
            else []
        ),
        "",
        "def norm(rows):",
        f"    return F.rms_norm(rows, rows.shape[-1:], eps={NORM_EPS:g})",
        "",
        "def heads(rows, n):  # (T, n*D) -> (1, n, T, D)",
        "    return rows.unflatten(-1, (n, -1)).transpose(0, 1)[None]",
        "",
        f"q = heads({q}, {layout.n_heads})",
        f"k, v = heads({k}, {layout.kv_heads}), heads(text @ W_V, {layout.kv_heads})",
        f"k_picture, v_picture = heads({k_picture}, {layout.kv_heads}), heads(picture @ W_Vp, {layout.kv_heads})",
        f"out = F.scaled_dot_product_attention(q, k, v{shared})",
        f"out = out + {config.factor:g} * F.scaled_dot_product_attention(q, k_picture, v_picture{shared})",
        "output = out[0].transpose(0, 1).flatten(1) @ W_O",
        "print(output)",
    ]
    return "\n".join(lines) + "\n"
