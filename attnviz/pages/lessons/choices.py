"""Choices of a lesson. When a step is left, all but lesson, sentence and notes are reset."""

from typing import Any

from attnviz.app.links.choices import Choice, PageChoices, pack_bits, record_reader
from attnviz.base import head_edit
from attnviz.base.head_edit import LARGEST_FACTOR, NO_EDIT, SCALES, VIEWS, HeadEdit
from attnviz.base.words import N_

EXAMPLE = "The animal didn't cross the street because it was too tired."
IDS = ("attention", "row", "scaling", "heads", "masks", "order", "cache", "fast", "model", "born", "pair")
OWN_LESSON = "own"  #: the id of a lecturer's lesson
MOST_STEPS = 30
LARGEST_FILE = 40_000  #: characters of a lecturer's lesson
FARTHEST = 512
MASKS = tuple(mask for mask in head_edit.MASKS if mask != "painted")


def _parse_file(value: Any) -> str:
    (text,) = value
    if not isinstance(text, str) or len(text) > LARGEST_FILE:
        raise ValueError(text)
    return text


def _parse_edit(value: Any) -> HeadEdit:
    mask, window, scale, factor, seen = value
    known = mask in MASKS and scale in SCALES and seen in VIEWS
    if not (known and 1 <= int(window) <= FARTHEST and 0 <= float(factor) <= LARGEST_FACTOR):
        raise ValueError(value)
    return HeadEdit(mask, int(window), scale=scale, factor=float(factor), seen=seen)


PAGE = PageChoices("lessons")
LESSON = PAGE.one_of("lesson", (*IDS, OWN_LESSON), label=N_("Lesson"))
STEP = PAGE.integer("step", 1, low=1, high=MOST_STEPS, label=N_("Step"))
SENTENCE = PAGE.sentence("l_text", EXAMPLE, longest=400, label=N_("Sentence"))
#: A link that the teacher shares with the class does not open them there.
NOTES = PAGE.flag("l_notes", label=N_("Teacher’s notes"), is_momentary=True)
#: A page that was opened from a phone in a room: it has no switch for the notes.
STUDENT = PAGE.flag("l_student", label=N_("A student’s page"))
#: the lesson on paper, in place of its steps
PAPER = PAGE.one_of("l_paper", ("none", "worksheet", "plan"), label=N_("On paper"))
OWN_TEXT: Choice[str] = PAGE.on_canvas(
    "l_own", "", _parse_file, lambda text: [text], 'title = "Mine"', inside="l_own", label=N_("Your own lesson")
)

# Of one step:
GUESS = PAGE.one_of("l_guess", label=N_("Your guess"))
WIDTH = PAGE.integer("l_width", None, low=1, high=4096, label=N_("d_k"))
POSITION = PAGE.integer("l_at", None, low=0, high=FARTHEST, label=N_("Position"))
EDIT = PAGE.on_canvas(
    "l_edit",
    NO_EDIT,
    _parse_edit,
    lambda edit: [edit.mask, edit.window, edit.scale, edit.factor, edit.seen],
    HeadEdit("none"),
    inside="l_hand",
    short="e",
    label=N_("Mask and scale"),
)
PAINTED: Choice[str] = PAGE.on_canvas(
    "l_painted", "", pack_bits, str, "gA==", inside="l_hand", short="m", label=N_("Painted mask")
)
#: part, row and column on a board; -1: none was chosen yet
CELL: Choice[tuple[int, int, int]] = PAGE.on_canvas(
    "l_cell",
    (0, -1, -1),
    record_reader(tuple[int, int, int], lambda three: all(-1 <= n <= FARTHEST for n in three)),
    list,
    (1, 0, 2),
    inside="l_hand",
    short="c",
    label=N_("Cell on show"),
)
#: percent turned, the word that looks, the pair on the dial, and which word stands at each place
DIAL: Choice[tuple[int, ...]] = PAGE.on_canvas(
    "l_dial",
    (100, 8, 0),
    record_reader(tuple[int, ...], lambda numbers: len(numbers) >= 3 and all(0 <= n <= 100 for n in numbers)),
    list,
    (100, 7, 1, 1, 0),
    inside="l_hand",
    short="d",
    label=N_("Words on a dial"),
)

#: what a step sets, and what it is put back to when the step is left
UNDONE: dict[Choice[Any], Any] = {
    choice: choice.default for choice in (GUESS, WIDTH, POSITION, EDIT, PAINTED, CELL, DIAL)
}
