"""Measure the layers that the comparison page shows, and write what it ships: `data/measured.json`.

python -m scripts.measure_layers       takes a few minutes; run it on a machine that does nothing else
"""

import json
import os
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("KINETO_LOG_LEVEL", "5")

import torch

from attnviz.pages.compare.maths import layer_timing

TARGET = Path(__file__).parents[1] / "attnviz/pages/compare/maths/data/measured.json"


def main() -> None:
    torch.set_num_threads(1)
    results = []
    for d in layer_timing.WIDTHS:
        for training in (False, True):
            config = layer_timing.Config(d=d, training=training)
            for result in layer_timing.measure(config):
                last = result.timings[-1]
                print(f"d={d} training={training} {last.kind:9} n={last.n:5} {last.seconds:.3g} s {last.nbytes:,} B")
            results.append(layer_timing.to_json(result))
            said = result.machine.words
    lines = ",\n".join(json.dumps(result) for result in results)
    TARGET.write_text(f'{{"results": [\n{lines}\n]}}\n', "utf-8")
    print(TARGET.stat().st_size, "bytes;", said)


if __name__ == "__main__":
    main()
