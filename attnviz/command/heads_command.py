"""`attnviz heads`: which heads of a model do what over a text, as a table."""

from __future__ import annotations

import argparse
import csv
import math
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from attnviz.base.extras import require_extra
from attnviz.base.words import N_, _
from attnviz.models.file_faults import read_lines

if TYPE_CHECKING:
    from attnviz.notebook import HeadTable

DEFAULT = ("previous_token", "induction", "duplicate_token")
EXAMPLES = N_("""examples:
  attnviz heads smollm2-135m sentences.txt                        the five heads that show each pattern most
  attnviz heads gpt2 sentences.txt -o heads.csv                   every head, as a table
  attnviz heads minilm-l6 sentences.txt --patterns first_token same_token
  attnviz heads smollm2-135m sentences.txt --cost --keep done.npz  what losing each head costs; goes on where it stopped

patterns: previous_token, next_token, same_token, first_token, duplicate_token, induction
""")


def add_to(commands: Any) -> argparse.ArgumentParser:
    """Add the parser of `attnviz heads`."""
    parser: argparse.ArgumentParser = commands.add_parser(
        "heads",
        help=_("which heads do what over a text, or what each costs"),
        description=_(
            "Read every line of a text with a model and score each head: how much of its weight follows a pattern, "
            "with standard error and stability over the lines. Or, with --cost, how much the loss of the next token "
            "rises, in nats, when the head is silenced."
        ),
        epilog=_(EXAMPLES),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("model", help=_("a name that attnviz models lists, owner/name on the hub, or a folder"))
    parser.add_argument("file", type=Path, help=_("a text with one sentence a line"))
    parser.add_argument("--patterns", nargs="+", default=list(DEFAULT), metavar="PATTERN", help=_("what to look for"))
    parser.add_argument("--cost", action="store_true", help=_("silence each head in turn instead; takes longer"))
    parser.add_argument(
        "--keep", type=Path, metavar="FILE.npz", help=_("with --cost: keep finished results there, and go on from them")
    )
    parser.add_argument("--top", type=int, default=5, metavar="N", help=_("how many heads to print of each: 5"))
    parser.add_argument("-o", "--output", type=Path, metavar="FILE.csv", help=_("write every head into this table"))
    parser.set_defaults(run=run)
    return parser


def run(chosen: argparse.Namespace, _others: Sequence[str]) -> int:
    """Score the heads, print the top of each pattern and write the whole table."""
    lines = read_lines(chosen.file)
    require_extra("models", "attnviz heads")
    from attnviz.models.loading import load
    from attnviz.notebook import COLUMNS, cost_of_heads, find_heads

    loaded, on_terminal = load(chosen.model), sys.stderr.isatty()

    def show(done: int) -> None:
        """How many lines are done, on one line of a terminal."""
        if on_terminal:
            print(f"\r{done}/{len(lines)}", end="", file=sys.stderr, flush=True)

    if chosen.cost:
        table = cost_of_heads(loaded, lines, keep=chosen.keep, progress=show)
    else:
        table = find_heads(loaded, lines, tuple(chosen.patterns), progress=show)
    if on_terminal:
        print(file=sys.stderr)
    _print_top(table, chosen.top)
    if chosen.output is not None:
        with chosen.output.open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, COLUMNS)
            writer.writeheader()
            writer.writerows(table.rows())
    return 0 if table.complete else 130


def _print_top(table: HeadTable, n: int) -> None:
    what = _("nats") if table.signed else _("share")
    print(_("pattern").ljust(18), _("layer"), _("head"), what.rjust(9), _("± error"), _("in lines"), sep="  ")
    for row in table.top(n):
        name, position = row.pattern.ljust(18), f"{row.layer:>5}  {row.head:>4}"
        error = " " * 7 if math.isnan(row.stderr) else f"{row.stderr:>7.4f}"  # a single line has none
        print(f"{name}  {position}  {row.mean:>9.4f}  {error}  {row.sentences:>8}")
