"""Digits: drawings prepared as the data set's own pictures were, and pictures side by side."""

import json

import numpy as np
import pytest
import torch
from transformers import ViTForImageClassification

from attnviz.models.pictures import sources
from attnviz.models.pictures.sources import held_out_digits


def test_the_held_out_fifth_is_of_scikit_learn_s_digits_and_the_shares_of_right_ones_are_those_that_are_told():
    sklearn = pytest.importorskip("sklearn.datasets")
    digits, held = sklearn.load_digits(), held_out_digits()
    known = {
        (image.astype(np.uint8).tobytes(), int(said)) for image, said in zip(digits.images, digits.target, strict=True)
    }
    every = [(picture.tobytes(), int(said)) for picture, said in zip(held.pictures, held.labels, strict=True)]
    assert set(every) <= known
    assert len(every) == 360
    assert np.bincount(held.labels).tolist() == pytest.approx(np.bincount(digits.target) / 5, abs=1)
    model = ViTForImageClassification.from_pretrained(sources.FOLDER / "digit-vit").eval()

    def right(pictures: np.ndarray, said: np.ndarray) -> float:
        with torch.no_grad():
            found = model(torch.tensor(pictures / 8 - 1, dtype=torch.float32).unsqueeze(1)).logits.argmax(-1)
        return float((found.numpy() == said).mean())

    figures = json.loads((sources.FOLDER / "digit-vit" / "figures.json").read_text("utf-8"))
    assert right(held.pictures, held.labels) == pytest.approx(figures["held_out_fifth"], abs=0.003)
    last, said = digits.images[-360:], digits.target[-360:]
    assert right(last, said) == pytest.approx(figures["last_360_mostly_learned"], abs=0.003)
    kept_back = {picture for picture, _said in every}
    learned = sum(picture.astype(np.uint8).tobytes() not in kept_back for picture in last)
    assert f"{learned} of them" in (sources.FOLDER / "digit-vit" / "README.md").read_text("utf-8")
    assert learned > 180, "most of them, as the page says"


def test_a_small_drawing_in_a_corner_is_stretched_to_the_height_and_moved_to_the_middle():
    drawing = np.zeros((32, 32), bool)
    drawing[2:10, 3:7] = True  # 8 high, 4 wide: four times as large it is 32 high, 16 wide
    assert sources.count_ink(drawing).tolist() == [[0, 0, 16, 16, 16, 16, 0, 0]] * 8
    drawing = np.zeros((32, 32), bool)
    drawing[20:22, 3:27] = True  # it may not be wider than the data set's digits
    rows = sources.count_ink(drawing).sum(1).tolist()
    assert rows == rows[::-1]
    assert rows[0] == 0 < sum(rows)
