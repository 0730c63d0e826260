"""Two photographs that come with attnviz: scikit-learn's sample pictures, made smaller."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from attnviz.base.words import N_
from attnviz.models.pictures.photo import Photo, read_photo

FOLDER: Final = Path(__file__).parents[1] / "shipped" / "photographs"


@dataclass(frozen=True)
class Sample:
    """A photograph, who took it, and under which licence."""

    id: str
    name: str
    by: str
    source: str
    licence: str = "CC BY 2.0"


SAMPLES: Final = (
    Sample("flower", N_("A flower"), "vultilion", "https://www.flickr.com/photos/vultilion/6056698931/"),
    Sample("temple", N_("A temple"), "danielbuechele", "https://www.flickr.com/photos/danielbuechele/6061409035/"),
)


def sample(name: str) -> Photo:
    """The photograph of this id; LookupError where there is none."""
    if name not in {each.id for each in SAMPLES}:
        raise LookupError(name)
    return read_photo((FOLDER / f"{name}.jpg").read_bytes(), name)
