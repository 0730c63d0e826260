"""Record the head that opens the page Positions: `python -m attnviz.pages.positions` writes its file anew."""

from pathlib import Path

from attnviz.analysis.model_run import Request, run_model
from attnviz.models.loading import load
from attnviz.pages.positions.maths import turning_words

if __name__ == "__main__":
    text, layer, head = turning_words.PREPARED
    loaded = load("smollm2-135m")
    found = turning_words.record(run_model(Request("smollm2-135m", text), loaded), loaded, layer, head)
    Path(turning_words.__file__).with_name("data").mkdir(exist_ok=True)
    Path(turning_words.__file__).with_name("data").joinpath("turning_words.npz").write_bytes(turning_words.pack(found))
