"""Start the server from a program: `streamlit run` of the package's own script."""

from __future__ import annotations

from collections.abc import Sequence

from streamlit.web import cli

from attnviz.serve.configuration import ENTRY


def serve(options: Sequence[str]) -> None:
    """Serve the app until it is stopped; `options` are those of `streamlit run`."""
    cli.main(["run", str(ENTRY), *options], prog_name="attnviz", standalone_mode=False)
