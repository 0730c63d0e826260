"""Train the small model of the page How a head is born: `python -m attnviz.pages.born --seed 3` gives another life.

The run is kept in the cache folder, where the page finds it. `--ship` trains every run that is shipped, or those that
are named, into maths/data: `python -m attnviz.pages.born --ship`, a quarter of an hour on one core.
"""

import argparse
from dataclasses import replace
from pathlib import Path

import torch

from attnviz.analysis import prepared_files
from attnviz.pages.born.maths import life

DATA = Path(life.__file__).with_name("data")


def main() -> None:
    """Train what is asked for; one thread, because sums in another order differ in their last bits."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=life.RUNS[life.LIFE].seed)
    parser.add_argument("--steps", type=int, default=life.Config().steps)
    parser.add_argument("--ship", nargs="*", choices=[*life.RUNS, []], metavar="NAME")
    asked = parser.parse_args()
    torch.set_num_threads(1)
    if asked.ship is None:
        config = replace(life.Config(), seed=asked.seed, steps=asked.steps)
        name = f"seed-{config.seed}-own"
        packed = life.pack_run(print_training(name, config, None))
        print(f"kept in {prepared_files.write_cache_file(life.own_run_folder(name), packed)}")
    for name in asked.ship if asked.ship else life.RUNS if asked.ship is not None else ():
        keep = None if name == life.LIFE else life.FEW if name == life.BLURRED else 0
        (DATA / f"{name}.npz").write_bytes(life.pack_run(print_training(name, life.RUNS[name], keep)))


def print_training(name: str, config: life.Config, keep: int | None) -> life.TrainingRun:
    """The run, told as it goes."""
    made = life.run(config, keep, lambda step, accuracy: print(f"{name} step {step}: {accuracy:.1%}", flush=True))
    print(f"{name}: previous-token {made.previous[-1].max():.2f}, induction {made.induction[-1].max():.2f}")
    return made


if __name__ == "__main__":
    main()
