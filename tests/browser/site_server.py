"""A site behind a plain server of files, in a folder below its root."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from deploy.class_server import free_port

FOLDER = Path("some") / "folder"
APP = "https://app.example/"


@contextmanager
def served(root: Path) -> Iterator[tuple[str, subprocess.Popen[bytes]]]:
    """Write a site of both models, and serve it: its address, and the server."""
    command = [sys.executable, "-m", "attnviz", "site", root / FOLDER, "--language", "en", "zh", "--app", APP]
    subprocess.run(command, check=True, capture_output=True)
    port = free_port()
    server = subprocess.Popen(
        [sys.executable, "-m", "http.server", str(port), "--bind", "127.0.0.1", "--directory", root],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        yield f"http://127.0.0.1:{port}/{FOLDER.as_posix()}/", server
    finally:
        server.kill()
        server.wait()
