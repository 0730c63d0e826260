"""`attnviz figure`: the picture that a link of the app shows, as a file."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from attnviz.base.extras import require_extra
from attnviz.base.message import MessageList, Problem
from attnviz.base.words import N_, _, translate_message

if TYPE_CHECKING:
    from attnviz.app.exports import FigureCollector

KINDS = ("svg", "png", "gif", "webp", "html", "csv")
EXAMPLES = N_("""examples:
  attnviz figure "explore?text=The cat sat&at=3.1"                  what this view offers
  attnviz figure "https://attention.example/explore?at=3.1" -o head.svg
  attnviz figure "masks?m_text=a b c" -o mask.png -o mask.csv --background dark
  attnviz figure "explore?at=3.1" -o live.html --all-heads          every head, in one live file
  attnviz figure decoding -o steps.gif --square                     a film, where the picture moves
  attnviz figure "explore?at=3.1" "explore?at=3.2" -o head.png      head-1.png and head-2.png
""")


def add_to(commands: Any) -> argparse.ArgumentParser:
    """Add the parser of `attnviz figure`."""
    parser: argparse.ArgumentParser = commands.add_parser(
        "figure",
        help=_("save the figures that links of the app show, as SVG, PNG, GIF, WebP, live HTML or CSV"),
        description=_(
            "Save the figure that a link shows. The page behind the link is computed here, without a server and "
            "without a browser, and the files are those that its own Save menu makes. A Plotly chart as SVG or PNG "
            "needs Chromium or Chrome on the machine, because only a browser draws it; as HTML and CSV it needs none. "
            "A value in the link that the page does not have is refused in a sentence, with exit status 2 and no file."
        ),
        epilog=_(EXAMPLES),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    link = _("a link of the app, whole or from the page's name on: explore?at=13.8; several at once")
    parser.add_argument("links", nargs="+", metavar="LINK", help=link)
    out = _(
        "where to write it: .svg, .png, .gif or .webp (a film), .html or .csv; several at once. Of several links each "
        "file has its number: head.svg becomes head-1.svg, head-2.svg"
    )
    name = _("which figure of the page, as listed without -o")
    parser.add_argument("-o", "--output", action="append", type=Path, default=[], metavar="FILE", help=out)
    parser.add_argument("--figure", default="", metavar="NAME", help=name)
    parser.add_argument("--background", choices=("white", "transparent", "dark"), default="white")
    parser.add_argument("--title", help=_("another title; empty for none"))
    parser.add_argument("--caption", help=_("another sentence below; empty for none"))
    parser.add_argument("--no-credit", action="store_true", help=_("without the line that says what made it"))
    parser.add_argument("--no-colour-bar", action="store_true", help=_("without the colour bar"))
    parser.add_argument("--scale", type=float, default=2.0, metavar="N", help=_("pixels of a PNG per pixel: 2"))
    parser.add_argument("--square", action="store_true", help=_("a film of 1080 x 1080 pixels, not of 1280 x 720"))
    part_help = _("of a film only what lies between: 0 is its beginning, 1 its end")
    parser.add_argument("--part", type=float, nargs=2, default=(0.0, 1.0), metavar=("FROM", "TO"), help=part_help)
    parser.add_argument("--all-heads", action="store_true", help=_("in HTML every head, not only the one on show"))
    parser.add_argument(
        "--lenient",
        action="store_true",
        help=_("write what the page shows even where the link asks for what is not there"),
    )
    parser.set_defaults(run=run)
    return parser


def run(chosen: argparse.Namespace, _others: Sequence[str]) -> int:
    """Compute the pages and write the files; without files, list what they offer."""
    _check(chosen)
    require_extra("app", "attnviz figure")
    # before torch comes, whose threads would spin while they wait: two fifths of all time where others work beside it
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")
    from attnviz.app.cache import model_cache
    from attnviz.serve.headless import FileRequest, app_link, figure_file, run_page

    # no sentence comes after this one, and a process that ends while a thread loads a model may be aborted
    model_cache.process_caches().loads_ahead = False
    try:
        links = [app_link(link) for link in chosen.links]
    except Problem as problem:
        print(f"attnviz: {translate_message(problem.message)}", file=sys.stderr)
        return 2  # as for a wrong call
    looks = FileRequest(
        chosen.background,
        chosen.title,
        chosen.caption,
        "" if chosen.no_credit else None,
        not chosen.no_colour_bar,
        width=1080 if chosen.square else 1280,
        height=1080 if chosen.square else 720,
        start=chosen.part[0],
        end=chosen.part[1],
        scale=chosen.scale,
        all_heads=chosen.all_heads,
    )
    # all of them before the first is written: one that cannot be had leaves none
    files: list[tuple[str, Path, bytes]] = []
    for number, link in enumerate(links, 1):
        collector = run_page(link, chosen.figure if chosen.output else None)
        for sentence in dict.fromkeys([*collector.refused, *collector.warnings]):
            print(sentence, file=sys.stderr)
        if collector.refused and not chosen.lenient:
            print(_("Nothing is written: with --lenient, what the page shows instead is."), file=sys.stderr)
            return 2
        if not chosen.output:
            print("\n".join(collector.names) or _("This link shows no figure."))
            if not collector.names:
                return 1
            continue
        figure = _select_figure(collector, chosen.figure)
        for file in chosen.output:
            path = file if len(links) == 1 else file.with_stem(f"{file.stem}-{number}")
            files.append((figure.file_name, path, figure_file(figure, _kind(file), looks)))
    for name, file, content in files:
        file.write_bytes(content)
        print(_("{figure} is in {file}").format(figure=name, file=file), file=sys.stderr)
    return 0


def _check(chosen: argparse.Namespace) -> None:
    """Refuse wrong options now, not after minutes of computing."""
    for file in chosen.output:
        if _kind(file) not in KINDS:
            raise Problem("{file} must end in {known}", file=file, known=MessageList([f".{kind}" for kind in KINDS]))
        if not file.resolve().parent.is_dir():
            raise Problem("There is no folder {folder} to write {file} into", folder=file.parent, file=file.name)
    if not 0 <= chosen.part[0] < chosen.part[1] <= 1:
        raise Problem("The part of a film must lie between 0 and 1, and end after it begins")
    if not 0.1 <= chosen.scale <= 16:
        raise Problem("scale={scale} must be a number from 0.1 to 16", scale=chosen.scale)


def _kind(file: Path) -> str:
    return file.suffix.lower().removeprefix(".")


def _select_figure(answer: FigureCollector, name: str) -> Any:
    if answer.figure is not None:
        return answer.figure
    if not answer.names:
        raise Problem("This link shows no figure.")
    raise Problem(
        "There is no figure {name} behind this link; there are: {known}", name=name, known=MessageList(answer.names)
    )
