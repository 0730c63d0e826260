"""Choices of a visitor, each declared once: name in a link, default, and allowed values.

Widgets, links, saved views, coming back to a page, and the sentences that answer nonsense in a link all
follow from these declarations. A page declares its choices in its own module:

    PAGE = PageChoices("masks")
    SEED = PAGE.integer("m_seed", 0, low=0, high=9999, label=N_("Seed"))

Nothing here knows Streamlit; `link_state` keeps the values, `widgets` draws them.
"""

import base64
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from string import Formatter
from types import MappingProxyType
from typing import Any, Generic, Literal, TypeVar

from attnviz.base import record_json
from attnviz.base.message import Message

T = TypeVar("T")
IntOrNone = TypeVar("IntOrNone", int, int | None)
BoolOrNone = TypeVar("BoolOrNone", bool, bool | None)

LONGEST_ID = 200  # characters


HeadPlace = tuple[int, int]  # layer, head


def parse_head(text: str) -> HeadPlace:
    """ "13.8" is layer 13, head 8."""
    match = re.fullmatch(r"([0-9]{1,4})\.([0-9]{1,4})", text)
    if not match:
        raise ValueError(text)
    return int(match[1]), int(match[2])


def head_name(head: HeadPlace | None) -> str:
    """(13, 8) is written "13.8", no head as nothing."""
    return "" if head is None else f"{head[0]}.{head[1]}"


@dataclass(eq=False)
class PartialValue(ValueError):
    """Only part of a value in a link can be used, `kept`: a text was cut, or the items in `lost` make no sense."""

    usable: Any
    lost: Sequence[object] = ()


@dataclass(frozen=True, eq=False)
class Choice(Generic[T]):
    """One choice. `read` turns the text in a link into a value, or raises one of NONSENSE; `write` does the reverse.

    The choices of a canvas (pins, paint, edited cells) share one compressed parameter, `inside`, in which each has
    the key `short`; their `read` and `write` take and give JSON instead of text. With an empty `short`, the choice
    is all that the parameter holds.
    """

    name: str  #: of its parameter in the link, and the key of its widget
    page: str
    kind: Literal["id", "whole", "real", "flag", "text", "several", "canvas", "other"]
    default: T
    read: Callable[[Any], T]
    write: Callable[[T], Any]
    example: T  #: a valid value other than the default, for tests that set everything to something else
    label: Message  #: what its control is called, for sentences about it
    ids: tuple[str, ...] = ()  #: the values that an "id" allows; empty where only the page knows them
    low: float = -math.inf
    high: float = math.inf
    longest: int = 0  #: characters of a text
    inside: str = ""
    short: str = ""
    shared_key: str = ""  #: choices of several pages with the same name here share one value, as the sentence does
    is_personal: bool = False  #: who reads decides: another one's saved view does not change it
    is_momentary: bool = False  #: a link may ask for it; the page's own link, which is copied, never says it

    @property
    def key(self) -> str:
        """The key under which the session keeps the value."""
        return self.shared_key or self.name


@dataclass(frozen=True)
class Move:
    """Where the content lies now that a section of a page had: links to the section lead there.

    `parameters` are those of the new link, each a template of the old ones; it is left out where one of these is
    missing, and `usual` says what a missing one stood for. `figures`: how names of its figures began, and begin now.
    """

    page: str
    parameters: Mapping[str, str]
    usual: Mapping[str, str]
    figures: tuple[str, str]


@dataclass
class PageChoices:
    """The choices of one page, in the order of their declaration. A module that is loaded again replaces its page."""

    page: str
    choices: list[Choice[Any]] = field(default_factory=list)
    #: Where an untouched page shows something else than a link without the choice means: both, in this order.
    opening: dict[Choice[Any], tuple[Any, Any]] = field(default_factory=dict)
    #: By parameter and value: what this page showed once, and another one shows now.
    moved: dict[tuple[str, str], Move] = field(default_factory=dict)
    #: By parameter and id of older links: the id that this page shows it under now, None where a link leaves it out.
    renamed: dict[tuple[str, str], str | None] = field(default_factory=dict)

    def __post_init__(self) -> None:
        _PAGES[self.page] = self

    def __iter__(self) -> Iterator[Choice[Any]]:
        return iter(self.choices)

    def add(self, choice: Choice[T]) -> Choice[T]:
        """Declare a choice; the methods below do so for each kind. ValueError when its name is taken."""
        if any(known.name == choice.name for page in _PAGES.values() for known in page):
            raise ValueError(f"the choice {choice.name!r} is declared twice")
        self.choices.append(choice)
        return choice

    def one_of(
        self,
        name: str,
        ids: Sequence[str] = (),
        default: str | None = None,
        *,
        label: str | Message,
        is_personal: bool = False,
        is_momentary: bool = False,
        moved: Mapping[str, str] = MappingProxyType({}),
    ) -> Choice[str]:
        """One of `ids`, which are never translated. Without `ids` only the page knows them, and "" means its pick.

        `moved`: ids that older links have, and where their content is today.
        """
        ids = tuple(ids)
        first = default if default is not None else (ids[0] if ids else "")
        if ids and first not in ids:
            raise ValueError(f"{name}: the default {first!r} is none of {ids}")
        example = next((candidate for candidate in ids if candidate != first), "another")
        self.renamed |= {(name, old): None if today == first else today for old, today in moved.items()}

        def read(text: Any) -> str:
            if not isinstance(text, str) or len(text) > LONGEST_ID:
                raise ValueError(text)
            today = moved.get(text, text)
            if ids and today not in ids:
                raise ValueError(text)
            return today

        return self.add(
            Choice(
                name,
                self.page,
                "id",
                first,
                read,
                str,
                example,
                _message(label),
                ids=ids,
                is_personal=is_personal,
                is_momentary=is_momentary,
            )
        )

    def integer(self, name: str, default: IntOrNone, low: int, high: int, *, label: str | Message) -> Choice[IntOrNone]:
        """A whole number from `low` to `high`; by default None where the page decides while nobody has."""
        read = _number_reader(_parse_integer, low, high)
        example = low if default is None else default + 1 if default < high else default - 1
        return self.add(
            Choice(name, self.page, "whole", default, read, str, example, _message(label), low=low, high=high)
        )

    def real(self, name: str, default: float, low: float, high: float, *, label: str | Message) -> Choice[float]:
        """A number from `low` to `high`, both finite."""
        read = _number_reader(_parse_real, low, high)
        example = float(f"{(default + (high if default < high else low)) / 2:.3g}")
        return self.add(
            Choice(name, self.page, "real", default, read, _write_real, example, _message(label), low=low, high=high)
        )

    def flag(
        self, name: str, default: BoolOrNone = False, *, label: str | Message, is_momentary: bool = False
    ) -> Choice[BoolOrNone]:
        """True or False; by default None where the page decides while nobody has."""

        def read(text: Any) -> bool:
            return {"true": True, "false": False}[text.lower()]

        return self.add(
            Choice(
                name,
                self.page,
                "flag",
                default,
                read,
                lambda on: str(bool(on)).lower(),
                not default,
                _message(label),
                is_momentary=is_momentary,
            )
        )

    def text(
        self, name: str, default: str = "", *, longest: int, label: str | Message, shared_key: str = ""
    ) -> Choice[str]:
        """Any text of at most `longest` characters."""

        def read(text: Any) -> str:
            if not isinstance(text, str):
                raise TypeError(text)
            if len(text) > longest:
                raise PartialValue(text[:longest])
            return text

        example = "Two birds saw it"
        return self.add(
            Choice(
                name,
                self.page,
                "text",
                default,
                read,
                str,
                example,
                _message(label),
                longest=longest,
                shared_key=shared_key,
            )
        )

    def sentence(self, name: str, default: str, *, longest: int, label: str | Message) -> Choice[str]:
        """The sentence, shared by all pages once it is typed on one; until then each page shows its own example."""
        return self.text(name, default, longest=longest, label=label, shared_key="sentence")

    def several(self, name: str, *, label: str | Message) -> Choice[tuple[str, ...] | None]:
        """Some of the page's ids, separated by commas in the link; None where the visitor chose nothing."""

        def read(text: Any) -> tuple[str, ...] | None:
            if not isinstance(text, str) or len(text) > 100 * LONGEST_ID:
                raise ValueError(text)
            return tuple(id for id in text.split(",") if id) or None

        return self.add(
            Choice(
                name, self.page, "several", None, read, lambda ids: ",".join(ids or ()), ("1.0", "2.1"), _message(label)
            )
        )

    def custom(
        self,
        name: str,
        default: T,
        read: Callable[[str], T],
        write: Callable[[T], str],
        example: T,
        *,
        label: str | Message,
    ) -> Choice[T]:
        """Any other value that can be written as a short text."""
        return self.add(Choice(name, self.page, "other", default, read, write, example, _message(label)))

    def on_canvas(
        self,
        name: str,
        default: T,
        read: Callable[[Any], T],
        write: Callable[[T], Any],
        example: T,
        *,
        label: str | Message,
        inside: str,
        short: str = "",
    ) -> Choice[T]:
        """Something that a canvas holds: JSON in the compressed parameter `inside`, under the key `short`."""
        return self.add(
            Choice(
                name, self.page, "canvas", default, read, write, example, _message(label), inside=inside, short=short
            )
        )


def _message(label: str | Message) -> Message:
    return label if isinstance(label, Message) else Message(label)


_PAGES: dict[str, PageChoices] = {}
_INTEGER = re.compile(r"[+-]?[0-9]{1,18}")


#: the page of choices that every page has: they stand in each one's link, and keep their value from page to page
EVERY_PAGE = "*"


def opening_values(page: str) -> Mapping[Choice[Any], tuple[Any, Any]]:
    """By choice: the value of an untouched page, and the value of a link that does not name the choice."""
    return _PAGES[page].opening if page in _PAGES else {}


def follow_move(page: str, parameters: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    """Page and parameters of a link or a view today: of one to a section that has moved, those of where it lies now."""
    for (name, value), move in (_PAGES[page].moved if page in _PAGES else {}).items():
        if parameters.get(name) == value:
            old = {**move.usual, **parameters}
            new = {
                parameter: template.format_map(old)
                for parameter, template in move.parameters.items()
                if all(field in old for _text, field, _spec, _conversion in Formatter().parse(template) if field)
            }
            stays = {choice.name for choice in _PAGES[EVERY_PAGE]}
            new |= {name: text for name, text in parameters.items() if name in stays | {"embed"}}
            return move.page, new | ({"figure": new["figure"].replace(*move.figures)} if "figure" in new else {})
    renamed = _PAGES[page].renamed if page in _PAGES else {}
    today = dict(parameters) | {name: text for (name, old), text in renamed.items() if parameters.get(name) == old}
    return page, {name: text for name, text in today.items() if text is not None}


def page_choices(page: str) -> tuple[Choice[Any], ...]:
    """The choices that `page` declares, and those of every page; empty for a page that declares none."""
    mine = tuple(_PAGES.get(page, ()))
    return (*mine, *_PAGES.get(EVERY_PAGE, ())) if mine else ()


def page_parameters(page: str) -> tuple[str, ...]:
    """The names that `page` reads in a link."""
    return tuple(dict.fromkeys(choice.inside or choice.name for choice in page_choices(page)))


def pages_with_choices() -> tuple[PageChoices, ...]:
    """Every page that declares choices."""
    return tuple(_PAGES.values())


def _number_reader(parse: Callable[[str], Any], low: float, high: float) -> Callable[[Any], Any]:
    """A function that parses a number from a link; it raises ValueError for one outside `low` to `high`."""

    def read(text: Any) -> Any:
        value = parse(text)
        if not low <= value <= high:
            raise ValueError(text)
        return value

    return read


def record_reader(expected: Any, allowed: Callable[[Any], bool]) -> Callable[[Any], Any]:
    """A function that reads JSON as the expected type, a tuple of whole numbers say; ValueError where not allowed."""

    def read(value: Any) -> Any:
        known = record_json.read_as(expected, value)
        if not allowed(known):
            raise ValueError(value)
        return known

    return read


def pack_bits(value: Any) -> str:
    """Bits as base64, which a canvas packs and unpacks."""
    base64.b64decode(value, validate=True)
    return str(value)


def _parse_integer(text: str) -> int:
    if not _INTEGER.fullmatch(text):
        raise ValueError(text)
    return int(text)


def _parse_real(text: str) -> float:
    if len(text) > 40:
        raise ValueError(text)
    return float(text)


def _write_real(value: float) -> str:
    """The shortest text that reads back as the same number, without a decimal point where none is needed."""
    short = f"{value:g}"
    return short if float(short) == value else repr(float(value))
