"""Empty environments that hold a wheel and exactly what it asks for.

Nothing is downloaded: of the packages that the tests' own environment has, those that the wheel's requirements lead to
are linked in, and pip then installs the wheel with its extras and no index. A requirement that is missing, or a bound
that the tested versions do not meet, stops it.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import zipfile
from email import message_from_string
from importlib.metadata import distribution
from pathlib import Path

from packaging.requirements import Requirement

ROOT = Path(__file__).parents[2]
BUILT_FROM = ("pyproject.toml", "README.md", "LICENSE")


def build(folder: Path) -> Path:
    """The wheel, built from a copy: what is built leaves traces that would get into the next one."""
    clone = folder / "clone"
    shutil.copytree(ROOT / "attnviz", clone / "attnviz", ignore=shutil.ignore_patterns("__pycache__"))
    for name in BUILT_FROM:
        shutil.copy(ROOT / name, clone)
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation", "--no-index"]
    subprocess.run([*command, "--wheel-dir", str(folder), str(clone)], check=True)
    shutil.rmtree(clone)
    (wheel,) = folder.glob("attnviz-*.whl")
    return wheel


def environment(folder: Path, wheel: Path, extra: str = "") -> Path:
    """The Python of a new environment with the wheel in it, and one extra of it."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True)
    python = folder / "bin" / "python"
    command = [str(python), "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"]
    packages = Path(subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip())
    for name in sorted(required_by(wheel, extra)):
        _link(name, packages)
    options = ["--quiet", "--no-index", "--disable-pip-version-check"]
    what = f"{wheel}[{extra}]" if extra else str(wheel)
    subprocess.run([sys.executable, "-m", "pip", "--python", str(python), "install", *options, what], check=True)
    return python


def metadata(wheel: Path) -> str:
    """What the wheel says of itself."""
    with zipfile.ZipFile(wheel) as file:
        (name,) = (name for name in file.namelist() if name.endswith(".dist-info/METADATA"))
        return file.read(name).decode()


def required_by(wheel: Path, extra: str) -> set[str]:
    """The names of all packages that the wheel with this extra leads to."""
    asked = message_from_string(metadata(wheel)).get_all("Requires-Dist") or []
    found: set[str] = set()
    waiting = [(text, extra) for text in asked]
    own = {extra}
    while waiting:
        text, of = waiting.pop()
        requirement = Requirement(text)
        if requirement.marker and not requirement.marker.evaluate({"extra": of}):
            continue
        if requirement.name == "attnviz":
            waiting += [(each, more) for more in requirement.extras - own for each in asked]
            own |= requirement.extras
        elif requirement.name not in found:
            found.add(requirement.name)
            extras = [*requirement.extras, ""]
            waiting += [(each, more) for more in extras for each in distribution(requirement.name).requires or ()]
    return found


def _link(name: str, packages: Path) -> None:
    """Link what one package installed, and what pip knows of it."""
    installed = distribution(name)
    tops = {file.parts[0] for file in installed.files or () if file.parts[0] not in ("..", "__pycache__")}
    for top in tops:
        there = Path(str(installed.locate_file(top)))
        if not (packages / top).exists():
            (packages / top).symlink_to(there)
