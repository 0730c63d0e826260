"""Train the small model of the page How a head is born: `python -m attnviz.pages.born --seed 3` trains another run.

The run is written to the cache folder, where the page finds it. `--ship` trains all packaged runs, or the named ones,
into maths/data: `python -m attnviz.pages.born --ship` takes a quarter of an hour on one core.
"""

import argparse
from dataclasses import replace
from pathlib import Path

import torch

from attnviz.analysis import prepared_files
from attnviz.pages.born.maths import life

DATA = Path(life.__file__).with_name("data")


def main() -> None:
    """Train the requested runs on one thread: sums in another order differ in their last bits."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=life.RUNS[life.LIFE].seed)
    parser.add_argument("--steps", type=int, default=life.Config().steps)
    parser.add_argument("--ship", nargs="*", choices=[*life.RUNS, []], metavar="NAME")
    args = parser.parse_args()
    torch.set_num_threads(1)
    if args.ship is None:
        config = replace(life.Config(), seed=args.seed, steps=args.steps)
        name = f"seed-{config.seed}-own"
        packed = life.pack_run(print_training(name, config, None))
        print(f"kept in {prepared_files.write_cache_file(life.own_run_path(name), packed)}")
    for name in args.ship if args.ship else life.RUNS if args.ship is not None else ():
        keep = None if name == life.LIFE else life.N_FEW_CHECKPOINTS if name == life.BLURRED else 0
        (DATA / f"{name}.npz").write_bytes(life.pack_run(print_training(name, life.RUNS[name], keep)))


def print_training(name: str, config: life.Config, keep: int | None) -> life.TrainingRun:
    """Train a run, printing its progress."""
    run = life.run(config, keep, lambda step, accuracy: print(f"{name} step {step}: {accuracy:.1%}", flush=True))
    print(f"{name}: previous-token {run.previous[-1].max():.2f}, induction {run.induction[-1].max():.2f}")
    return run


if __name__ == "__main__":
    main()
