"""Measure attention on this machine, for the page to show: `python -m attnviz.pages.fast`."""

import argparse
from pathlib import Path

import torch

from attnviz.pages.fast.maths import measured


def main() -> None:
    """Measure every way that is there, on the GPU where there is one; print it, and keep it in a file."""
    gpu = torch.cuda.is_available()
    parser = argparse.ArgumentParser(prog="python -m attnviz.pages.fast", description=__doc__)
    parser.add_argument("--device", default="cuda" if gpu else "cpu", choices=("cpu", "cuda"))
    parser.add_argument("--dtype", default="bfloat16" if gpu else "float32", choices=("float32", "bfloat16", "float16"))
    parser.add_argument("--longest", type=int, default=(1 << 16) if gpu else (1 << 13), metavar="TOKENS")
    parser.add_argument("--ways", nargs="+", default=measured.WAYS, choices=(*measured.WAYS, *measured.LAYERS))
    parser.add_argument("--to", type=Path, metavar="FOLDER")  # by default where the page looks: the cache folder
    arguments = parser.parse_args()
    torch.set_num_threads(1)  # as the server, whose visitors have one each
    config = measured.Config(
        longest=arguments.longest, dtype=arguments.dtype, device=arguments.device, ways=tuple(arguments.ways)
    )
    for result in measured.measure(config):
        if not result.is_done:
            last = result.timings[-1]
            print(f"{last.way:10} {last.n:8,} tokens {last.seconds:10.4g} s {last.nbytes:14,} B", flush=True)
    for way, reason in result.refused.items():
        print(f"{way}: {reason}")
    print(measured.store_result(result, arguments.to))


if __name__ == "__main__":
    main()
