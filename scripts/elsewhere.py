"""Run tests in a clone of what is committed, at another path, with the packages that are installed here.

python -m scripts.elsewhere [ARGUMENTS OF PYTEST]
"""

import ast
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
NAME = "attn viz é"  #: a space, and a letter that is not ASCII


def imported_in(clone: Path) -> Path:
    """The package that Python imports there."""
    asked = [sys.executable, "-c", "import attnviz; print(ascii(attnviz.__file__))"]
    said = subprocess.run(asked, cwd=clone, check=True, capture_output=True, text=True).stdout
    return Path(ast.literal_eval(said.strip()))


def main(arguments: list[str]) -> int:
    """pytest's exit status in the clone."""
    with tempfile.TemporaryDirectory() as folder:
        clone = Path(folder, NAME)
        subprocess.run(["git", "clone", "--quiet", str(ROOT), str(clone)], check=True)
        package = imported_in(clone)
        if not package.is_relative_to(clone.resolve()):
            sys.exit(f"the tests would not look at the clone: attnviz is imported from {package}")
        print(f"In {clone}:", flush=True)
        return subprocess.call([sys.executable, "-m", "pytest", *arguments], cwd=clone)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
