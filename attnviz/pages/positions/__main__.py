"""Record the head that opens the page Positions: `python -m attnviz.pages.positions` writes its file anew."""

from pathlib import Path

from attnviz.analysis import prepared_files
from attnviz.analysis.model_run import Request, run_model
from attnviz.models.loading import load
from attnviz.pages.positions.maths import turning_words

if __name__ == "__main__":
    text, layer, head = turning_words.PREPARED
    loaded = load(turning_words.MODEL)
    found = turning_words.record(run_model(Request(turning_words.MODEL, text), loaded), loaded, layer, head)
    packed = prepared_files.pack_file(
        {"words": found.words, "scale": found.scale}, {"turns": found.turns, "q": found.q, "k": found.k}
    )
    Path(turning_words.__file__).with_name("data").joinpath(turning_words.FILE).write_bytes(packed)
