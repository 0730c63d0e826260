"""`attnviz site`: the explorer as a folder of files, with models that run in the browser."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from attnviz.base.message import Problem
from attnviz.base.words import N_, _, require_languages

EXAMPLES = N_("""examples:
  attnviz site OUT                          SmolLM2 and MiniLM, in English: 190 MB
  attnviz site OUT --model minilm-l6 --language en zh
  attnviz site --serve OUT                  show it on this machine
""")


def add_to(commands: Any) -> argparse.ArgumentParser:
    """Add the parser of `attnviz site`."""
    parser: argparse.ArgumentParser = commands.add_parser(
        "site",
        help=_("write the explorer as files, with models that run in the browser"),
        description=_(
            "Write a folder that any server of files can hand out: a page on which a sentence is read by a model in "
            "the visitor's own browser. Or, with --serve, show such a folder on this machine."
        ),
        epilog=_(EXAMPLES),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("out", type=Path, metavar="OUT", help=_("the folder"))
    parser.add_argument("--model", nargs="+", metavar="MODEL", help=_("smollm2-135m, minilm-l6, or both: the default"))
    parser.add_argument(
        "--language", nargs="+", default=["en"], metavar="ID", help=_("of the page; the first is the usual one")
    )
    parser.add_argument(
        "--examples",
        type=Path,
        metavar="FILE",
        help=_("sentences of your own, one a line; after a tab the head to begin with (13.8), then what it shows"),
    )
    parser.add_argument("--app", metavar="ADDRESS", help=_("where the app is served, for a link to it"))
    parser.add_argument("--serve", action="store_true", help=_("write nothing: show what is there"))
    parser.add_argument("--port", type=int, default=8600, metavar="N", help=_("with --serve: the port, 8600"))
    parser.set_defaults(run=run)
    return parser


def run(chosen: argparse.Namespace, _others: Sequence[str]) -> None:
    """Write a site, or show one."""
    if chosen.serve:
        _serve(chosen.out, chosen.port)
        return
    require_languages(*chosen.language)
    from attnviz.site.model_files import MODELS
    from attnviz.site.write_site import write

    size = write(chosen.out, chosen.model or MODELS, chosen.language, chosen.app, chosen.examples)
    template = _("{folder}: {size} MB. Show it: attnviz site --serve {folder}")
    print(template.format(folder=chosen.out, size=f"{size / 1e6:.0f}"))


def _serve(folder: Path, port: int) -> None:
    """Hand out the folder's files to this machine until stopped."""
    if not (folder / "index.html").is_file():
        raise Problem("There is no site in {folder}: write one with attnviz site {folder}", folder=str(folder))
    try:
        listener = ThreadingHTTPServer(("127.0.0.1", port), partial(_Quiet, directory=str(folder)))
    except (OSError, OverflowError) as problem:
        why = getattr(problem, "strerror", problem)
        raise Problem("Port {port} cannot be listened on: {why}", port=port, why=why) from None
    with listener as server:
        print(_("On this machine: {address}").format(address=f"http://localhost:{server.server_port}/"), flush=True)
        server.serve_forever()


class _Quiet(SimpleHTTPRequestHandler):
    """Files, and no line for each."""

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing."""
