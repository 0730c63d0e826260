"""Write a folder that is a Space: a repository of its own, which the hub builds from its Dockerfile and serves.

python -m deploy.space FOLDER

The folder gets what the image is made of, the Dockerfile where a Space looks for it, a README whose first lines are the
Space's settings, and the pages and pictures of docs/. What is in it is committed and pushed to the
Space; nothing is pushed from here.
"""

import argparse
import re
import shutil
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).parents[1]
DOCKERFILE = ROOT / "deploy" / "Dockerfile"
UNWANTED = shutil.ignore_patterns("__pycache__", "*.egg-info", "secrets.toml")

SETTINGS = """---
title: attnviz
emoji: 👁️
colorFrom: purple
colorTo: yellow
sdk: docker
app_port: {port}
license: apache-2.0
short_description: Type a sentence and see attention
---

"""


def copied(dockerfile: str) -> list[str]:
    """What the Dockerfile takes from the folder that it is built in."""
    lines = re.findall(r"^COPY (?!--)(.*)$", dockerfile, re.MULTILINE)
    return [source for line in lines for source in line.split()[:-1]]


def write(folder: Path) -> None:
    """Write the Space."""
    text = DOCKERFILE.read_text("utf-8")
    folder.mkdir(parents=True, exist_ok=False)
    for name in (*copied(text), "docs", *(page.name for page in ROOT.glob("*.md"))):
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, folder / name, ignore=UNWANTED)
        else:
            shutil.copy(ROOT / name, folder / name)
    (folder / "Dockerfile").write_text(text, "utf-8")
    exposed = re.findall(r"^EXPOSE (\d+)$", text, re.MULTILINE)[-1]
    readme = (ROOT / "README.md").read_text("utf-8")
    (folder / "README.md").write_text(SETTINGS.format(port=exposed) + readme, "utf-8")


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="a folder that is not there yet")
    options = parser.parse_args(arguments)
    if options.folder.exists():
        parser.error(f"{options.folder} is there already; name a folder that is not")
    write(options.folder)


if __name__ == "__main__":
    main()
