"""What a visitor can choose on the page about pictures. A visitor's own picture is in no link."""

from typing import Any, get_args

from attnviz.app.links.choices import PageChoices, record_reader
from attnviz.base.words import N_
from attnviz.canvas import patch_view
from attnviz.models.pictures import SAMPLES
from attnviz.pages.pictures.maths.picture_record import STAGES, PictureStack

MOST_PATCHES = 4096
MOST_NAMES = 8  #: descriptions that a picture is compared with
HANDS = 30  #: handwritings of each digit to choose from

PAGE = PageChoices("pictures")
MODEL = PAGE.one_of("pic_model", label=N_("Model"))
OTHER_MODEL = "another"
HUB_ID = PAGE.text("pic_hub", "", longest=200, label=N_("Hub id or folder"))
SOURCE = PAGE.one_of("pic_from", ("digits", "draw", "photo", "own"), label=N_("Picture"))
DIGITS = PAGE.text("pic_digits", "", longest=40, label=N_("Two or three digits"))
HAND = PAGE.integer("pic_hand", 0, low=0, high=HANDS - 1, label=N_("Handwriting"))
PHOTO = PAGE.one_of("pic_photo", tuple(photo.id for photo in SAMPLES), label=N_("Photograph"))
QUESTION = PAGE.text("pic_question", "What is in the picture?", longest=200, label=N_("Question"))
DESCRIPTIONS = PAGE.text(
    "pic_names",
    "a photo of a flower, a photo of a temple, a photo of a dog",
    longest=300,
    label=N_("Descriptions to compare it with"),
)
STACK = PAGE.one_of("pic_stack", ("words", *STAGES), label=N_("Attention"))
DESCRIPTION = PAGE.one_of("pic_name", tuple(map(str, range(MOST_NAMES))), label=N_("Description"))
TEXT_LAYER = PAGE.integer("pic_text_layer", 0, low=0, high=999, label=N_("Layer"))
TEXT_HEAD = PAGE.integer("pic_text_head", 0, low=0, high=999, label=N_("Head"))
ORDER = PAGE.one_of("pic_order", get_args(patch_view.PatchOrder), label=N_("All heads, ordered by"))
LAYER = PAGE.integer("pic_layer", 0, low=0, high=999, label=N_("Layer"))
HEAD = PAGE.integer("pic_head", 0, low=0, high=999, label=N_("Head"))
SHOWS = PAGE.one_of("pic_shows", ("row", "mean", "rollout", "layers"), label=N_("Show"))
FACTOR = PAGE.real("pic_factor", 1.0, 0.0, 10.0, label=N_("Scale × the model’s"))


GUESS = PAGE.one_of("pic_guess", label=N_("Your guess"))  #: and of which head and picture: "surer.0.0.1377"

_numbers = record_reader(
    tuple[int, ...], lambda numbers: len(numbers) <= MOST_PATCHES and all(0 <= n <= MOST_PATCHES for n in numbers)
)
_heads = record_reader(tuple[tuple[PictureStack, int, int], ...], lambda heads: len(heads) <= MOST_PATCHES)


def _parse_drawings(value: Any) -> tuple[str, ...]:
    drawings = patch_view.read_drawings(value)
    if drawings is None:
        raise ValueError(value)
    return drawings


PINS = PAGE.on_canvas(
    "pic_pins", tuple[int, ...](), _numbers, list, (3,), inside="pic_view", short="p", label=N_("Pinned patches")
)
HIDDEN = PAGE.on_canvas(
    "pic_hidden", tuple[int, ...](), _numbers, list, (5, 6), inside="pic_view", short="h", label=N_("Hidden patches")
)
SILENCED = PAGE.on_canvas(
    "pic_silenced", tuple[tuple[str, int, int], ...](), _heads, lambda heads: [list(head) for head in heads],
    (("picture", 0, 1),), inside="pic_view", short="s",
 label=N_("Silenced heads"))  # fmt: skip
DRAWINGS = PAGE.on_canvas(
    "pic_drawings",
    tuple[str, ...](),
    _parse_drawings,
    list,
    ("",),
    inside="pic_view",
    short="d",
    label=N_("Drawn digits"),
)
