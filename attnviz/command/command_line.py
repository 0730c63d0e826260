"""The command line: picks the part of attnviz that a subcommand names, serves the app, and explains a wrong call.

Nothing heavy is imported before the subcommand is known.
"""

import argparse
import io
import logging
import os
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from attnviz.base.extras import ExtraMissing, require_extra
from attnviz.base.message import Problem
from attnviz.base.words import (
    N_,
    _,
    join_list,
    languages,
    require_languages,
    set_default_language,
    supported_language,
    translate_message,
)
from attnviz.command import figure_command, heads_command, models_command, site_command
from attnviz.models.file_faults import FAILED

INTERRUPTED = 130
WRONG_CALL = 2  #: as argparse has it


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; returns the exit status. Without a command the app is served.

    An expected error becomes one sentence on stderr, and its exit status.
    """
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")  # where the locale lacks a letter, the rest of the line is printed
    try:
        command_arguments = parse_language(sys.argv[1:] if arguments is None else arguments)
    except Problem as problem:
        print(f"attnviz: {translate_message(problem.message)}", file=sys.stderr)
        return WRONG_CALL
    parser, parts = _parser()
    if not command_arguments or command_arguments[0] not in (*parts, "-h", "--help", "--version"):
        command_arguments = ["serve", *command_arguments]
    chosen, others = parser.parse_known_args(command_arguments)
    if others and chosen.command != "serve":
        parts[chosen.command].error(_("unknown: {options}").format(options=" ".join(others)))
    try:
        return chosen.run(chosen, others) or 0
    except Problem as problem:
        print(f"attnviz: {translate_message(problem.message)}", file=sys.stderr)
    except (ExtraMissing, *FAILED) as problem:
        print(f"attnviz: {problem}", file=sys.stderr)
    except KeyboardInterrupt:
        return INTERRUPTED
    return 1


def run_process() -> None:
    """Run the command that this process was started for, and end the process.

    The interpreter is not taken down: with torch loaded that takes a second, and aborts while a thread loads a model.
    """
    status = main()
    logging.shutdown()
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError):  # nobody reads it any more
            stream.flush()
    os._exit(status)


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
    parser.add_argument(
        "--lang",
        metavar="ID",
        help=_("the language of messages and figures, one of {known}; by default the environment's").format(
            known=join_list(languages())
        ),
    )
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", title=_("commands"))
    parts = {
        "serve": _add_serve(commands),
        "figure": figure_command.add_to(commands),
        "heads": heads_command.add_to(commands),
        "site": site_command.add_to(commands),
        "models": models_command.add_to(commands),
    }
    return parser, parts


def _add_serve(commands: Any) -> argparse.ArgumentParser:
    """`attnviz serve`: the app, on this machine."""
    parser: argparse.ArgumentParser = commands.add_parser(
        "serve",
        help=_("serve the app; what attnviz does without a command"),
        description=_("Serve the app. It answers this machine only, unless --share opens it to the network."),
        epilog=_("Any other option goes to Streamlit, such as --server.baseUrlPath attention"),
    )
    parser.add_argument("--port", type=int, metavar="N", help=_("the port; 8501, or the next one that is free"))
    parser.add_argument("--share", action="store_true", help=_("answer every address: for a room of people you know"))
    parser.add_argument("--open", action="store_true", help=_("open it in the browser"))
    parser.set_defaults(run=_serve)
    return parser


def _serve(chosen: argparse.Namespace, others: Sequence[str]) -> None:
    """Serve until stopped."""
    require_extra("app", "attnviz serve")
    from attnviz.models.loading import availability, packaged_models
    from attnviz.serve import configuration

    if not any(availability(entry.id).on_this_machine for entry in packaged_models()):
        print(_("No trained model is on this machine yet: attnviz models fetch brings two."), file=sys.stderr)
    options = [*others]
    if chosen.port is not None:
        options += ["--server.port", str(chosen.port)]
    if chosen.share:
        options += ["--server.address", "0.0.0.0"]
    if chosen.open:
        options += ["--server.headless", "false"]
    configuration.serve(options)


# The language of the command line: that of --lang, else of the environment, as other programs read it.
#
# A served app is not concerned: each visitor's browser says its own.

#: where a language is looked for, the first that is set counts
VARIABLES = ("LANGUAGE", "LC_ALL", "LC_MESSAGES", "LANG")
#: what argparse says itself, in English alone
ARGPARSE = (
    N_("usage: "),
    N_("positional arguments"),
    N_("options"),
    N_("show this help message and exit"),
    N_("show program's version number and exit"),
    N_("%(prog)s: error: %(message)s\n"),
    N_("argument %(argument_name)s: %(message)s"),
    N_("the following arguments are required: %s"),
    N_("invalid choice: %(value)r (choose from %(choices)s)"),
    N_("invalid %(type)s value: %(value)r"),
    N_("expected one argument"),
)


def parse_language(arguments: Sequence[str]) -> list[str]:
    """Speak the language that the caller asks for; the arguments without it. Problem: there is no such language."""
    set_default_language(environment_language(os.environ))  # a refusal is said in it, too
    vars(argparse)["_"] = _  # its own words are looked up when they are said
    parser = argparse.ArgumentParser(prog="attnviz", add_help=False, allow_abbrev=False)
    parser.add_argument("--lang", metavar="ID")  # wherever it stands
    options, others = parser.parse_known_args(arguments)
    if options.lang is not None:
        require_languages(options.lang)
        set_default_language(options.lang)
    return others


def environment_language(environment: Mapping[str, str]) -> str | None:
    """The language that the environment asks for; None where it asks for none that is here."""
    requested = next((environment[name] for name in VARIABLES if environment.get(name)), "")
    language = supported_language(requested.split(":")[0])
    return language if language != supported_language(None) else None
