"""Write `canvas/shared/records.d.ts`, the TypeScript of records that both sides have: `python -m scripts.record_types`.

With `--check` nothing is written; it fails if the file is not what it should be.
"""

import sys
from collections.abc import Sequence
from dataclasses import is_dataclass
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Literal, Union, cast, get_args, get_origin, get_type_hints

from attnviz.base import head_edit, head_record
from attnviz.base.record_json import json_name, sent_fields
from attnviz.canvas import model_strip, patch_view, softmax_slider
from attnviz.canvas.shared import blobs

FILE = Path(__file__).parents[1] / "attnviz/canvas/shared/records.d.ts"
RECORDS = (
    head_record.Pins,
    head_record.RowSentence,
    head_record.Arrangement,
    head_record.HeadView,
    head_edit.HeadEdit,
    head_record.RibbonsState,
    head_record.HeadGrid,
    head_record.HeadChannel,
    head_record.PackedHeads,
    head_record.RawSource,
    head_record.ColourScale,
    head_record.HeadFacts,
    blobs.RequestedText,
    model_strip.StripPart,
    model_strip.StripBlock,
    patch_view.PatchChoices,
    softmax_slider.Panel,
    softmax_slider.SliderParameter,
)
PLAIN = {str: "string", bytes: "string", bool: "boolean", int: "number", float: "number", NoneType: "null"}


def describe_type(expected: Any) -> str:
    """A Python type as TypeScript has it after `to_json`."""
    if expected in PLAIN:
        return PLAIN[expected]
    options, kind = get_args(expected), get_origin(expected)
    if kind in (Union, UnionType):
        return " | ".join(dict.fromkeys(describe_type(option) for option in options))
    if kind is Literal:
        return " | ".join(f'"{option}"' if isinstance(option, str) else str(option) for option in options)
    if kind in (list, Sequence) or (kind is tuple and options[1:] == (...,)):
        item = describe_type(options[0])
        return f"({item})[]" if " " in item and not item.startswith("[") else f"{item}[]"
    if kind is tuple:
        return f"[{', '.join(map(describe_type, options))}]"
    if is_dataclass(expected):
        return cast(type[Any], expected).__name__
    if issubclass(expected, tuple):  # a named one
        return f"[{', '.join(map(describe_type, get_type_hints(expected).values()))}]"
    raise TypeError(f"{expected} has no counterpart")


def describe_record(record: type[Any]) -> str:
    """A dataclass as a TypeScript type; ids of an edit are the ones there are."""
    types, ids = get_type_hints(record), head_edit.ids() if record is head_edit.HeadEdit else {}
    lines = [f"export type {record.__name__} = {{"]
    for field in sent_fields(record):
        choices = Literal[tuple(ids[field.name])] if field.name in ids else types[field.name]
        lines.append(f"  {json_name(field.name)}: {describe_type(choices)};")
    return "\n".join([*lines, "};"])


def describe_all() -> str:
    """The whole file."""
    begin = "// Written by `python -m scripts.record_types`; attnviz/base/head_record.py explains each field.\n"
    return "\n".join([begin, *(f"{describe_record(record)}\n" for record in RECORDS)])


if __name__ == "__main__":
    if "--check" not in sys.argv:
        FILE.write_text(describe_all(), "utf-8")
    elif FILE.read_text("utf-8") != describe_all():
        sys.exit(f"{FILE.name} is not what head_record.py says: run python -m scripts.record_types")
