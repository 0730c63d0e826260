"""The differences between a page and the facts kept of it, as lines that a person can read."""

from collections.abc import Iterator
from typing import Any

from tests.links.printed import Printed, unit_of

#: How far two processors may be apart. A float32 is off by 2^-24 and a sum of 64 products by 64 of them; thirty layers
#: pass each on. Measured with other instructions, other libraries and one to four threads: 6e-5 at most.
RELATIVE = 1e-4
KINDS = (
    "multiselect",
    "text_input",
    "button_group",
)  #: kinds of controls that had no name in links of version 1 and have one now
ON_CANVAS = ("causal", "scaled")  #: controls that stand on a canvas now, and so not on a page without one
EXACT = ("shape", "finite")  #: fields that are counts: compared exactly, unlike the numbers beside them
CODES = {"values": 65534, "tiles": 254, "maps": 254}  #: what a canvas is sent as codes of roots, from 0 to 1: how many
Record = dict[str, Any]


def differences(kept: Record, now: Record, computed: bool = False) -> list[str]:
    """Empty when the page shows what was kept of it; `computed`: the numbers in its sentences come from a model's run.

    Controls must have the values they had, canvases, charts and tables must be the same in any order, and every
    number and quoted token that sentences held must still be there. A page may show more than before, may show
    fewer errors for nonsense in a link, and may give a control a name in the link that it did not have.
    """
    gone = () if now["canvases"] else ON_CANVAS
    lines = [
        *_controls({name: kept["controls"][name] for name in kept["controls"] if name not in gone}, now["controls"])
    ]
    for what in ("canvases", "charts", "tables"):
        lines += _same(what, kept[what], now[what])
    named_since = [
        [kind, value] for name, value in now["controls"].items() if name not in kept["controls"] for kind in KINDS
    ]
    for what in ("other controls", "numbers", "tokens", "calls"):
        here = now[what] + named_since if what == "other controls" else now[what]
        missing, _new = _unmatched(kept[what], here)
        if computed and what == "numbers":  # two kept numbers may be one by now, with fewer digits
            missing = [old for old in kept[what] if not any(printed_alike(old, new) for new in here)]
        lines += [f"{what}: {_short(each)} is gone" for each in missing]
    if now["red"] > kept["red"]:
        lines.append(f"red sentences: were {kept['red']}, are {now['red']}")
    return lines


def _controls(kept: Record, now: Record) -> Iterator[str]:
    for name, value in kept.items():
        if name not in now:
            yield f"control {name}: was {value!r}, is not on the page"
        elif not alike(value, now[name]):
            yield f"control {name}: was {value!r}, is {now[name]!r}"


def _same(what: str, kept: list[Any], now: list[Any]) -> Iterator[str]:
    missing, new = _unmatched(kept, now)
    for old in missing:
        if not new:
            yield f"{what}: one is gone: {_short(old)}"
            continue
        nearest = min(new, key=lambda each: sum(1 for _ in where(old, each)))
        new.remove(nearest)
        places = list(where(old, nearest))
        more = f" and {len(places) - 4} more" if len(places) > 4 else ""
        yield f"{what}: one differs: " + "; ".join(places[:4]) + more
    for each in new:
        yield f"{what}: one is new: {_short(each)}"


def _unmatched(kept: list[Any], now: list[Any]) -> tuple[list[Any], list[Any]]:
    """The items of either side that have no equal on the other."""
    rest, missing = list(now), []
    for old in kept:
        at = next((i for i, each in enumerate(rest) if alike(old, each)), None)
        if at is None:
            missing.append(old)
        else:
            del rest[at]
    return missing, rest


def alike(old: Any, new: Any) -> bool:
    """Equal, numbers within the tolerance."""
    return next(where(old, new), None) is None


def printed_alike(old: float, new: Printed) -> bool:
    """Whether both can be roundings of numbers within the tolerance: the last bits may decide the last place."""
    places = new.unit + min(new.unit, unit_of(f"{old:.9f}".rstrip("0")))
    return abs(old - new) <= places / 2 + RELATIVE * abs(old)


def where(
    old: Any, new: Any, path: str = "", size: float = 0.0, codes: float = 0, relative: float = RELATIVE
) -> Iterator[str]:
    """The places at which two facts differ. Sums are compared relative to the sum of magnitudes beside them.

    A number that was sent as one of so many codes may be one code away.
    """
    if isinstance(old, dict) and isinstance(new, dict):
        inside = max(size, _magnitude(old))
        span = 2 if old.get("meaning") == "diff" else 1  # from -1 to 1
        for name in [*old, *(n for n in new if n not in old)]:
            if name not in old or name not in new:
                yield f"{path}{name} is only {'kept' if name in old else 'here'}"
            elif name in EXACT and old[name] != new[name]:
                yield f"{path}{name} was {old[name]}, is {new[name]}"
            else:
                allowed = inside if name in ("sum", "placed") else inside / max(1, old.get("finite") or 1)
                coded = codes if name == "cells" else CODES.get(name, 0) / span if "canvas" in old else 0
                yield from where(
                    old[name], new[name], f"{path}{name} ", allowed if "cells" in old else 0.0, coded, relative
                )
    elif isinstance(old, list) and isinstance(new, list):
        if len(old) != len(new):
            yield f"{path}has {len(new)} entries, had {len(old)}"
        for i, (a, b) in enumerate(zip(old, new, strict=False)):
            yield from where(a, b, f"{path}{i} ", size, codes, relative)
    elif _is_number(old) and _is_number(new):
        most = max(abs(old), abs(new))
        code = 2 * most**0.5 / codes if codes else 0.0  # the code of v is codes * sqrt(v)
        if abs(old - new) > max(relative * max(most, size), code):
            yield f"{path}was {old}, is {new}"
    elif old != new:
        yield f"{path}was {old!r}, is {new!r}"


def _magnitude(facts: Record) -> float:
    return float(facts["size"] or 0.0) if "cells" in facts else 0.0


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 160 else text[:157] + "..."
