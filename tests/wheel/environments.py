"""Empty environments that hold a wheel and what it asks for: the versions that the tests run with, or the lowest.

For the first nothing is downloaded: of the packages that the tests' own environment has, those that the wheel's
requirements lead to are linked in, and uv then installs the wheel with its extras and no index. A requirement that is
missing, or a bound that the tested versions do not meet, stops it. The lowest versions and the locked ones come from
the index.
"""

import shutil
import subprocess
import sys
import zipfile
from collections.abc import Sequence
from email import message_from_string
from importlib.metadata import distribution, distributions
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[2]
BUILT_FROM = ("pyproject.toml", "README.md", "LICENSE")
AS_HERE = "torch"  #: older builds of it bring gigabytes for graphics cards


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
    python = _empty(folder)
    for name in sorted(required_by(wheel, extra)):
        _link(name, _packages(python))
    what = f"attnviz[{extra}] @ {wheel.as_uri()}" if extra else wheel
    _uv("install", "--python", python, "--no-index", "--offline", what)
    return python


def uv() -> str | None:
    """The program, from the tests' environment or from the machine."""
    beside = Path(sys.executable).with_name("uv")
    return str(beside) if beside.exists() else shutil.which("uv")


def lowest(folder: Path, wheel: Path, extra: str) -> Path:
    """The Python of a new environment with the lowest versions that wheel and extra allow; torch as it is here."""
    return _resolved(folder, wheel, (extra,), torch_as_here=True, resolution="lowest-direct")


def newest(folder: Path, wheel: Path, *extras: str, torch_as_here: bool) -> Path:
    """The Python of a new environment with the wheel, these extras, and the newest of all that its bounds allow."""
    return _resolved(folder, wheel, extras, torch_as_here=torch_as_here, resolution="highest")


def _resolved(folder: Path, wheel: Path, extras: Sequence[str], *, torch_as_here: bool, resolution: str) -> Path:
    """uv works in a folder without links, so that it can remove nothing that another environment has."""
    python = _empty(folder)
    asked = [str(each) for each in asked_for(wheel, *extras) if not (torch_as_here and each.name == AS_HERE)]
    wanted, found = folder / "wanted.txt", folder / "found.txt"
    wanted.write_text("\n".join(asked), "utf-8")
    _uv("compile", "--python", python, "--resolution", resolution, wanted, "--output-file", found)
    _uv("install", "--python", python, "--no-deps", "-r", found, wheel)
    if torch_as_here:
        _link_torch(_packages(python))
    return python


def newest_there_are(folder: Path, *names: str) -> dict[str, str] | None:
    """Name -> the newest version that the index has, whatever anything allows; None where there is no index."""
    wanted, found = folder / "names.txt", folder / "versions.txt"
    wanted.write_text("\n".join(names), "utf-8")
    try:
        _uv("compile", "--upgrade", wanted, "--output-file", found)
    except subprocess.CalledProcessError:
        return None
    lines = [line.split("==") for line in found.read_text("utf-8").splitlines() if "==" in line]
    return {name: version for name, version in lines if name in names}


def locked(folder: Path, wheel: Path, versions: Path) -> Path:
    """The Python of a new environment with the wheel and what `versions` names, by hash; torch as it is here."""
    python = _empty(folder)
    _uv("install", "--python", python, "--no-deps", "--require-hashes", "-r", versions)
    _uv("install", "--python", python, "--no-deps", wheel)
    _link_torch(_packages(python))
    return python


def metadata(wheel: Path) -> str:
    """What the wheel says of itself."""
    with zipfile.ZipFile(wheel) as file:
        (name,) = (name for name in file.namelist() if name.endswith(".dist-info/METADATA"))
        return file.read(name).decode()


def asked_for(wheel: Path, *extra: str) -> list[Requirement]:
    """What the wheel with these extras asks for itself, on this machine."""
    every = [Requirement(each) for each in message_from_string(metadata(wheel)).get_all("Requires-Dist") or []]
    extras, found = list(extra), list[Requirement]()
    for of in extras:  # grows while it is walked: an extra may name others
        for each in every:
            if each in found or not (each.marker is None or each.marker.evaluate({"extra": of})):
                continue
            if each.name == "attnviz":
                extras += [more for more in each.extras if more not in extras]
            else:
                found.append(each)
    for each in found:
        each.marker = None  # it holds here, and was said for an extra
    return found


def required_by(wheel: Path, extra: str) -> set[str]:
    """The names of all packages that the wheel with this extra leads to."""
    asked = asked_for(wheel, extra)
    return led_to({each.name for each in asked}, {each.name: each.extras for each in asked})


def led_to(names: set[str], extras: dict[str, set[str]] | None = None) -> set[str]:
    """These packages and all that their own requirements lead to, as they are installed here."""
    found: set[str] = set()
    waiting = [(name, (extras or {}).get(name, set())) for name in names]
    while waiting:
        name, chosen = waiting.pop()
        if name in found:
            continue
        found.add(name)
        for text in distribution(name).requires or ():
            requirement = Requirement(text)
            if requirement.marker is None or any(requirement.marker.evaluate({"extra": of}) for of in (*chosen, "")):
                waiting.append((requirement.name, requirement.extras))
    return found


def _empty(folder: Path) -> Path:
    """The Python of a new environment without anything in it."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True)
    return folder / "bin" / "python"


def _packages(python: Path) -> Path:
    """Where its packages lie."""
    (found,) = (python.parents[1] / "lib").glob("python*/site-packages")
    return found


def _uv(*command: object) -> None:
    """Its cache is gone with the call: what an index sends may not be reused, and each run would leave gigabytes."""
    program = uv()
    assert program is not None
    subprocess.run([program, "pip", *(str(each) for each in command), "--quiet", "--no-cache"], check=True)


def _link_torch(packages: Path) -> None:
    """Link torch, and of what it leads to whatever is not there yet."""
    there = {canonicalize_name(each.metadata["Name"]) for each in distributions(path=[str(packages)])}
    for name in sorted(led_to({AS_HERE})):
        if canonicalize_name(name) not in there:
            _link(name, packages)


def _link(name: str, packages: Path) -> None:
    """Link what one package installed, and what pip knows of it."""
    installed = distribution(name)
    tops = {file.parts[0] for file in installed.files or () if file.parts[0] not in ("..", "__pycache__")}
    for top in tops:
        there, here = Path(str(installed.locate_file(top))), packages / top
        if here.exists():
            continue
        if top.endswith(".dist-info"):  # uv takes a folder that is a link for no package
            here.mkdir()
            for file in there.iterdir():
                (here / file.name).symlink_to(file)
        else:
            here.symlink_to(there)
