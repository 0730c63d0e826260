"""Train the two picture models that attnviz ships: `python -m scripts.train_digits vit`, or one of the words below.

`vit` tells one digit, `last` adds its figure for hands that it has not learned from, `reader` reads two or three digits
side by side and writes words, `pictures` writes the held-out digits and the photographs that the app shows.

Seed, split and every setting are fixed, and it runs in one thread, so that a second run gives the same weights on the
same machine. Needs scikit-learn, for its digits. The models' cards, the README.md in each folder, say the figures too:
a test compares them with figures.json.
"""

import json
import sys
import time
from pathlib import Path
from typing import Any, Final

import numpy as np
import torch
from PIL import Image
from safetensors.torch import save_file
from sklearn.datasets import load_digits, load_sample_image
from sklearn.model_selection import train_test_split
from torch import Tensor, nn
from transformers import (
    BertConfig,
    VisionEncoderDecoderConfig,
    VisionEncoderDecoderModel,
    ViTConfig,
    ViTForImageClassification,
)

FOLDER: Final = Path(__file__).parents[1] / "attnviz" / "models" / "shipped"
WORDS: Final = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
VOCABULARY: Final = ("<pad>", "<start>", "<end>", *WORDS)
PAD, START, END, FIRST = 0, 1, 2, 3
SEED: Final = 0
#: scikit-learn's examples test on the last pictures: 252 are by other hands, 108 by one that wrote 22 before them
LAST: Final = 360
MOST: Final = 3  #: digits side by side
ROWS: Final = 4000  #: rows of held-out digits that the reader's figure is of
#: of every encoder and decoder
SMALL: Final[dict[str, Any]] = {
    "hidden_size": 64, "num_attention_heads": 4, "intermediate_size": 128, "hidden_dropout_prob": 0.0,
    "initializer_range": 0.1,
}  # fmt: skip


def split() -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Pictures (N, 8, 8) in counts and their digits: four fifths to learn from, then the stratified fifth held out."""
    digits = load_digits()
    kept, held, said, asked = train_test_split(
        digits.images, digits.target, test_size=0.2, stratify=digits.target, random_state=SEED
    )
    return _pictures(kept), torch.tensor(said), _pictures(held), torch.tensor(asked)


def last_ones() -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """All but the last 360 pictures, and those."""
    digits = load_digits()
    images, said = _pictures(digits.images), torch.tensor(digits.target)
    return images[:-LAST], said[:-LAST], images[-LAST:], said[-LAST:]


def _pictures(images: np.ndarray) -> Tensor:
    return torch.tensor(images, dtype=torch.float32)


def pixels(pictures: Tensor) -> Tensor:
    """What the models are given: counts from 0 to 16 as numbers from -1 to 1, with a channel, (N, 1, height, width)."""
    return (pictures / 8 - 1).unsqueeze(1)


def moved(pictures: Tensor, draw: torch.Generator) -> Tensor:
    """Each picture (N, 8, 8) moved by at most one pixel in each direction, with some noise in its counts."""
    n = len(pictures)
    padded = nn.functional.pad(pictures, (1, 1, 1, 1))
    down, right = (torch.randint(0, 3, (n,), generator=draw) for _ in range(2))
    rows = down[:, None] + torch.arange(8)
    columns = right[:, None] + torch.arange(8)
    shifted = padded[torch.arange(n)[:, None, None], rows[:, :, None], columns[:, None, :]]
    noise = torch.randn(shifted.shape, generator=draw) * 0.7
    return (shifted + noise).clamp(0, 16)


def train_vit(data: tuple[Tensor, Tensor, Tensor, Tensor], epochs: int = 40) -> tuple[Any, float]:
    """The model, and its accuracy on the held-out pictures."""
    torch.manual_seed(SEED)
    pictures, said, held, asked = data
    names = {"id2label": dict(enumerate(WORDS)), "label2id": {word: i for i, word in enumerate(WORDS)}}
    config = ViTConfig(**SMALL, num_channels=1, num_hidden_layers=4, image_size=8, patch_size=1, **names)
    model = ViTForImageClassification(config)
    draw = torch.Generator().manual_seed(SEED)
    steps = epochs * (len(pictures) // 64 + 1)
    learn, plan = _optimiser(model, 2e-3, steps)
    for _ in range(epochs):
        model.train()
        for rows in torch.randperm(len(pictures), generator=draw).split(64):
            logits = model(pixels(moved(pictures[rows], draw))).logits
            loss = nn.functional.cross_entropy(logits, said[rows], label_smoothing=0.05)
            _step(loss, model, learn, plan)
    return model.eval(), accuracy(model, held, asked)


@torch.no_grad()
def accuracy(model: Any, pictures: Tensor, said: Tensor) -> float:
    """Share of pictures whose likeliest digit is the right one."""
    return float((model.eval()(pixels(pictures)).logits.argmax(-1) == said).float().mean())


def side_by_side(
    pictures: Tensor, said: Tensor, n: int, draw: torch.Generator, moves: bool = False
) -> tuple[Tensor, Tensor]:
    """`n` rows of two or three digits: pictures (n, 8, 24) and digits (n, 3), -1 where a pair has no third one.

    With `moves` each digit is moved a little, so that many more rows than there are digits can be learned from.
    """
    chosen = torch.randint(0, len(pictures), (n, MOST), generator=draw)
    shown, digits = pictures[chosen], said[chosen].clone()
    if moves:
        shown = moved(shown.flatten(0, 1), draw).unflatten(0, (n, MOST))
    pairs = torch.rand(n, generator=draw) < 0.5
    shown[pairs, -1], digits[pairs, -1] = 0, -1
    return shown.transpose(1, 2).reshape(n, 8, 8 * MOST), digits


def written(digits: Tensor) -> tuple[Tensor, Tensor]:
    """What the decoder is given and what it is to write, (N, 4) each: words, then the end, then padding."""
    words = torch.where(digits < 0, END, digits + FIRST)
    to_write = torch.cat([words, torch.full((len(words), 1), END)], 1)
    after_end = (to_write == END).cumsum(1) - (to_write == END).long() > 0
    to_write[after_end] = PAD
    given = torch.cat([torch.full((len(words), 1), START), to_write[:, :-1]], 1)
    return given, to_write


def train_reader(steps: int = 2400, batch: int = 64) -> tuple[Any, dict[str, float]]:
    """The reader, and how many held-out pairs and triples it reads without a fault.

    Plain training stalls: the decoder learns to write likely words before it learns where to look. A second loss, that
    each third of the encoder's output must tell its digit, gives it something to look at; its layer is thrown away.
    """
    torch.manual_seed(SEED)
    pictures, said, held, asked = split()
    words = {"pad_token_id": PAD, "bos_token_id": START, "eos_token_id": END}
    encoder = ViTConfig(**SMALL, num_channels=1, num_hidden_layers=3, image_size=(8, 8 * MOST), patch_size=2)
    decoder = BertConfig(
        **SMALL, **words, vocab_size=len(VOCABULARY), num_hidden_layers=2, max_position_embeddings=8, type_vocab_size=1,
        attention_probs_dropout_prob=0.0, is_decoder=True, add_cross_attention=True,
    )  # fmt: skip
    config = VisionEncoderDecoderConfig.from_encoder_decoder_configs(encoder, decoder)
    config.update(words | {"decoder_start_token_id": START, "id2label": dict(enumerate(VOCABULARY))})
    model = VisionEncoderDecoderModel(config=config)
    hint = nn.Linear(64, 10)
    both = nn.ModuleList([model, hint])
    draw = torch.Generator().manual_seed(SEED)
    learn, plan = _optimiser(both, 2e-3, steps)
    for _ in range(steps):
        both.train()
        shown, digits = side_by_side(pictures, said, batch, draw, moves=True)
        given, to_write = written(digits)
        seen = model.encoder(pixel_values=pixels(shown)).last_hidden_state
        output = model(encoder_outputs=(seen,), decoder_input_ids=given)
        wrong = nn.functional.cross_entropy(output.logits.flatten(0, 1), to_write.flatten(), ignore_index=PAD)
        thirds = seen[:, 1:].unflatten(1, (4, MOST, 4)).mean((1, 3))  # (N, 3, 64)
        unclear = nn.functional.cross_entropy(hint(thirds).flatten(0, 1), digits.flatten(), ignore_index=-1)
        _step(wrong + unclear, both, learn, plan)
    return model.eval(), reads(model, held, asked, ROWS)


@torch.no_grad()
def reads(model: Any, pictures: Tensor, said: Tensor, n: int) -> dict[str, float]:
    """Share of `n` rows of these digits that are written without a fault, of pairs and of triples."""
    shown, digits = side_by_side(pictures, said, n, torch.Generator().manual_seed(SEED + 1))
    _given, to_write = written(digits)
    model.eval()
    seen = model.encoder(pixel_values=pixels(shown)).last_hidden_state
    wrote = torch.full((n, 1), START)
    for _ in range(MOST + 1):
        logits = model(encoder_outputs=(seen,), decoder_input_ids=wrote).logits[:, -1]
        wrote = torch.cat([wrote, logits.argmax(-1, keepdim=True)], 1)
    right = ((wrote[:, 1:] == to_write) | (to_write == PAD)).all(1)
    pairs = digits[:, -1] < 0
    return {"pairs": float(right[pairs].float().mean()), "triples": float(right[~pairs].float().mean())}


def _optimiser(model: nn.Module, rate: float, steps: int) -> tuple[Any, Any]:
    learn = torch.optim.AdamW(model.parameters(), lr=rate, weight_decay=0.05)
    return learn, torch.optim.lr_scheduler.OneCycleLR(learn, rate, steps, pct_start=0.15)


def _step(loss: Tensor, model: nn.Module, learn: Any, plan: Any) -> None:
    learn.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    learn.step()
    plan.step()


def pictures() -> None:
    """Write what the app shows: the digits that neither model learned from, and scikit-learn's sample pictures."""
    _kept, _said, held, asked = split()
    shown, said = (each.numpy().astype(np.uint8) for each in (held, asked))
    np.savez_compressed(FOLDER / "held_out_digits.npz", pictures=shown, said=said)
    for name, file in (("temple", "china.jpg"), ("flower", "flower.jpg")):
        image = Image.fromarray(load_sample_image(file))
        image.thumbnail((480, 480), Image.Resampling.LANCZOS)
        image.save(FOLDER / "photographs" / f"{name}.jpg", quality=85)


def ship(model: Any, name: str, figures: dict[str, Any]) -> None:
    """Write config and weights, those that two names share only once, and the figures beside them."""
    folder = FOLDER / name
    model.config.architectures = [type(model).__name__]
    model.config.to_json_file(folder / "config.json")
    own = {key: each.contiguous() for key, each in model.state_dict().items() if key not in model.all_tied_weights_keys}
    save_file(own, folder / "model.safetensors", {"format": "pt"})
    write_figures(name, figures)
    for file in folder.iterdir():
        file.chmod(0o644)


def write_figures(name: str, figures: dict[str, Any]) -> None:
    """Write and print how well a model does."""
    (FOLDER / name / "figures.json").write_text(json.dumps(figures, indent=2) + "\n", encoding="utf-8")
    print(json.dumps(figures))


def main() -> None:
    """Train what the command line names."""
    torch.set_num_threads(1)
    wanted = sys.argv[1] if len(sys.argv) > 1 else ""
    began = time.process_time()
    if wanted == "pictures":
        pictures()
    elif wanted == "vit":
        model, held_out = train_vit(split())
        seconds = round(time.process_time() - began)
        learned = accuracy(model, *last_ones()[2:])  # most of them are among the four fifths
        shares = {"held_out_fifth": held_out, "last_360_mostly_learned": learned}
        ship(model, "digit-vit", shares | {"seed": SEED, "processor_seconds": seconds})
    elif wanted == "last":
        _model, last = train_vit(last_ones())
        figures = json.loads((FOLDER / "digit-vit" / "figures.json").read_text("utf-8"))
        write_figures("digit-vit", figures | {"last_360_not_learned": last})
    elif wanted == "reader":
        model, exact = train_reader()
        figures = {"exact": exact, "rows": ROWS, "seed": SEED, "processor_seconds": round(time.process_time() - began)}
        ship(model, "digit-reader", figures)
    else:
        print(__doc__)


if __name__ == "__main__":
    main()
