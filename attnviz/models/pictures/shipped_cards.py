"""What the cards of our own picture models say in short: how often they are right, on what, and under which licence."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Final

from attnviz.core.message import Message

FOLDER: Final = Path(__file__).parents[1] / "shipped"


def card(model: str) -> Message | None:
    """The figures that training wrote beside a model's weights, in a sentence; None for a model that is not ours."""
    file = FOLDER / model / "figures.json"
    if not file.is_file():
        return None
    found = json.loads(file.read_text("utf-8"))
    if "exact" in found:
        return Message(
            "This model writes {pairs} of pairs and {triples} of triples of digits that it has not learned from "
            "without a fault. Data (UCI digits, as scikit-learn has them) and weights: CC BY 4.0.",
            {name: f"{share:.1%}" for name, share in found["exact"].items()},
        )
    return Message(
        "This model is right on {held_out} of a held-out fifth of its data, and on {last} of the last 360 pictures, "
        "which other hands wrote. Data (UCI digits, as scikit-learn has them) and weights: CC BY 4.0.",
        {"held_out": f"{found['held_out_fifth']:.1%}", "last": f"{found['last_360']:.1%}"},
    )
