"""Measure prefill and decode on this machine, for visitors to see: `python -m attnviz.experiments.decoding [model]`."""

from __future__ import annotations

import sys

import torch

from attnviz.experiments.decoding import measured_file
from attnviz.experiments.decoding.decoders import CORE, CoreDecoder, Decoder, ModelDecoder
from attnviz.experiments.decoding.prefill_and_decode import measure
from attnviz.models.loading import availabilities, load


def main(model: str | None) -> None:
    """Measure one decoder, or all that are on this machine; a server uses one thread a visitor, and so does this."""
    torch.set_num_threads(1)
    here = [s.entry.id for s in availabilities() if s.on_this_machine and s.entry.kind == "decoder"]
    for name in [model] if model else [*here, CORE]:
        decoder: Decoder = CoreDecoder() if name == CORE else ModelDecoder(load(name))
        *_partial, whole = measure(decoder)
        measured_file.keep(name, whole)
        print(f"{name}: {len(whole.points)} passes measured, kept in {measured_file.path_of(name)}")


if __name__ == "__main__":
    main(*sys.argv[1:2] or (None,))
