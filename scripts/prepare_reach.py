"""Train the copy-from-far task as the comparison page opens with it, and write what it ships: `data/reach.json`.

python -m scripts.prepare_reach        takes about ten seconds; the result is the same to training's rounding errors
"""

import json
from pathlib import Path

import torch

from attnviz.pages.compare.maths import reach_training

TARGET = Path(__file__).parents[1] / "attnviz/pages/compare/maths/data/reach.json"


def main() -> None:
    torch.set_num_threads(1)
    result = reach_training.run(reach_training.Config())
    TARGET.write_text(json.dumps(reach_training.to_json(result, 4)) + "\n", "utf-8")
    print(TARGET.stat().st_size, "bytes;", {kind: one.end_accuracy for kind, one in result.reached.items()})


if __name__ == "__main__":
    main()
