"""The cards of the two digit models: what they are, what they learned from, how well they do."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

_SHARED: Final = """\
## Data

scikit-learn's `load_digits`: 1,797 handwritten digits of 8 x 8 counts from 0 to 16, a copy of the test set of
the UCI "Optical Recognition of Handwritten Digits" (E. Alpaydin and C. Kaynak, 1998, CC BY 4.0). Four fifths
(1,437 pictures) were learned from; a stratified fifth (360, seed 0) was held out, and is what the app shows
(`../held_out_digits.npz`). Each picture is moved by at most one pixel and gets a little noise every time that
it is learned from.

The hands that wrote one part wrote the other as well. Other hands are harder to read.

## Limits

It has only ever seen such digits. What it says of anything else means nothing, however sure it is.

## Licence

CC BY 4.0, like the data.
"""
_VIT: Final = """\
# Digit ViT

Tells which digit a picture of 8 x 8 is. transformers' own `ViTForImageClassification`: 4 layers of 4 heads,
width 64, one patch for each pixel, 64 patches and a class token.

Made by `python -m scripts.train_digits vit`, seed {seed}, one thread, {processor_seconds} seconds of processor
time.

## Accuracy

| pictures | right |
|---|---|
| the held-out fifth (360 pictures) | {held_out_fifth:.1%} |
| the last 360 pictures, which other hands wrote, of a model that learned from all others | {last} |

"""
_READER: Final = """\
# Digit reader

Reads two or three digits side by side (8 x 24, a pair with nothing in its last third) and writes them as words.
transformers' own `VisionEncoderDecoderModel`: a ViT of 3 layers (patches of 2 x 2) and a BERT decoder of 2
layers with cross-attention, 4 heads each, width 64.

Made by `python -m scripts.train_digits reader`, seed {seed}, one thread, {processor_seconds} seconds of
processor time. A second loss, that each third of the encoder's output must tell its digit, is what gets it
going; its layer is not part of the model.

## Accuracy

Words written without a fault, of {rows:,} rows of held-out digits:

| rows | right |
|---|---|
| pairs | {pairs:.1%} |
| triples | {triples:.1%} |

"""


def write_card(folder: Path, figures: dict[str, Any]) -> None:
    """The card of the model in `folder`, with its figures."""
    last = figures.get("last_360")
    given = figures | figures.get("exact", {}) | {"last": "not measured yet" if last is None else f"{last:.1%}"}
    template = _READER if "exact" in figures else _VIT
    (folder / "README.md").write_text(template.format(**given) + _SHARED, encoding="utf-8")
