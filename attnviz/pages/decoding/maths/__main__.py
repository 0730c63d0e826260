"""Measure prefill and decode on this machine, for visitors to see: `python -m attnviz.pages.decoding.maths [model]`."""

import sys

import torch

from attnviz.models.loading import availabilities, load
from attnviz.pages.decoding.maths import prefill_and_decode
from attnviz.pages.decoding.maths.decoders import CORE, CoreDecoder, Decoder, ModelDecoder


def main(model: str | None) -> None:
    """Measure one decoder, or every decoder on this machine. One thread, as a server uses for a visitor."""
    torch.set_num_threads(1)
    here = [s.entry.id for s in availabilities() if s.on_this_machine and s.entry.kind == "decoder"]
    for name in [model] if model else [*here, CORE]:
        decoder: Decoder = CoreDecoder() if name == CORE else ModelDecoder(load(name))
        *_partial, timings = prefill_and_decode.measure(decoder)
        prefill_and_decode.store_measurement(name, timings)
        print(f"{name}: {len(timings.points)} passes measured, kept in {prefill_and_decode.measurement_path(name)}")


if __name__ == "__main__":
    main(*sys.argv[1:2] or (None,))
