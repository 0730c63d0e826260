"""What it costs to take one score apart, for docs/developing/benchmarks.md.

    python -m benchmarks.score

SmolLM2's head 18.6 over five words said twice. CPU time on one thread, measured in turns.
"""

from statistics import median

import torch

import attnviz as av
from attnviz.models.loading import load
from benchmarks.harness import machine, ms, ratio, rounds, table

TEXT, ROUNDS = " river stone green cable plant" * 2, 5


if __name__ == "__main__":
    torch.set_num_threads(1)
    loaded = load("smollm2-135m")
    same, other, *traces = (av.capture(loaded, TEXT, residual=True) for _ in range(ROUNDS + 3))
    found, fresh, heads = same.score_attribution(18, 6, 6, 2), iter(traces), iter(range(ROUNDS + 1))
    other.score_attribution(18, 6, 6, 2)
    taken = rounds(
        {
            "capture with the stream": lambda: av.capture(loaded, TEXT, residual=True),
            "the first score": lambda: next(fresh).score_attribution(18, 6, 6, 2),
            "another head of the layer": lambda: other.score_attribution(18, next(heads), 6, 2),
            "another cell of that head": lambda: same.score_attribution(18, 6, 7, 3),
            "a cut, with the part's total effect": lambda: found.cut("16.0"),
        },
        ROUNDS,
    )
    first = taken["capture with the stream"]
    print(machine(), end="\n\n")
    print(
        table(
            [
                {"what": name, "CPU time": ms(1e3 * median(times)), "x a capture": f"{ratio(times, first):.2f}"}
                for name, times in taken.items()
            ]
        )
    )
