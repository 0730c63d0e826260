"""The command line: picks the part of attnviz that a subcommand names, and explains a wrong call.

Nothing heavy is imported before the subcommand is known.
"""

from __future__ import annotations

import argparse
import io
import sys
from collections.abc import Callable, Sequence

from attnviz.base.extras import ExtraMissing
from attnviz.base.message import Problem
from attnviz.base.rasterised import NoFont
from attnviz.base.words import _, say
from attnviz.command import command_language, figure_command, heads_command, serve_command

INTERRUPTED = 130
WRONG_CALL = 2  #: as argparse has it


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; returns the exit status. Without a command the app is served."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")  # where the locale lacks a letter, the rest of the line is told
    try:
        given = command_language.begin(sys.argv[1:] if arguments is None else arguments)
    except Problem as problem:
        print(f"attnviz: {say(problem.message)}", file=sys.stderr)
        return WRONG_CALL
    if given[:1] == ["models"]:
        return _told(lambda: _models(given[1:]))
    parser, parts = _parser()
    if not given or given[0] not in (*parts, "-h", "--help", "--version"):
        given = ["serve", *given]
    chosen, others = parser.parse_known_args(given)
    if others and chosen.command != "serve":
        parts[chosen.command].error(_("unknown: {options}").format(options=" ".join(others)))
    return _told(lambda: chosen.run(chosen, others))


def _parser() -> tuple[argparse.ArgumentParser, dict[str, argparse.ArgumentParser]]:
    from attnviz import __version__

    parser = argparse.ArgumentParser(
        prog="attnviz",
        description=_("See attention, computed live: in the browser, as a figure in a file, over a whole text."),
        epilog=_(
            "Without a command the app is served. attnviz COMMAND --help says more, with examples; "
            "in Python: import attnviz as av."
        ),
    )
    parser.add_argument(
        "--version",
        action="version",
        version=f"attnviz {__version__}",
        help=_("show program's version number and exit"),
    )
    parser.add_argument("--lang", metavar="ID", help=command_language.about())
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", title=_("commands"))
    parts = {
        "serve": serve_command.add_to(commands),
        "figure": figure_command.add_to(commands),
        "heads": heads_command.add_to(commands),
        "models": commands.add_parser("models", help=_("list the models, and fetch and prepare them")),
    }
    return parser, parts


def _models(arguments: Sequence[str]) -> int:
    from attnviz.models.models_command import main as models

    return models(arguments, prog="attnviz models")


def _told(run: Callable[[], int]) -> int:
    """Run a subcommand; an expected error becomes one sentence on stderr, and its exit status."""
    try:
        return run()
    except Problem as problem:
        print(f"attnviz: {say(problem.message)}", file=sys.stderr)
    except (ExtraMissing, NoFont, OSError) as problem:
        print(f"attnviz: {problem}", file=sys.stderr)
    except KeyboardInterrupt:
        return INTERRUPTED
    return 1
