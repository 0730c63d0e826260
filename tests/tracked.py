"""Which files belong to the repository."""

import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[1]


def tracked(*folders: str) -> list[str]:
    """Those below these folders that git tracks, from the root; without git, or without its folder, all that are there.

    git says nothing, too, where the clone belongs to another user.
    """
    try:
        told = subprocess.run(["git", "ls-files", "-z", *folders], cwd=ROOT, capture_output=True, check=False).stdout
    except FileNotFoundError:
        told = b""
    return told.decode("utf-8").split("\0")[:-1] or _there(folders)


def _there(folders: tuple[str, ...]) -> list[str]:
    """Every file but what running the code and collecting its sentences leave behind."""
    files = (path for folder in folders for path in (ROOT / folder, *(ROOT / folder).rglob("*")) if path.is_file())
    kept = (path for path in files if path.parent.name != "__pycache__")
    return sorted(path.relative_to(ROOT).as_posix() for path in kept)
