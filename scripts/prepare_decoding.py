"""Compute the cache policies for the page's example and write them: `python -m scripts.prepare_decoding`."""

from pathlib import Path

from attnviz.models.loading import load
from attnviz.pages.decoding import choices
from attnviz.pages.decoding.maths import decoders, kept_positions

MODEL = "smollm2-135m"
FOLDER = Path(__file__).parents[1] / "attnviz/pages/decoding/maths/data"


def main() -> None:
    """Write the file that `prepared_policies.find` reads."""
    config = kept_positions.Config(choices.TEXT_EXAMPLE)
    *_partial, whole = kept_positions.run(decoders.ModelDecoder(load(MODEL)), config)
    FOLDER.mkdir(exist_ok=True)
    data = kept_positions.packed(MODEL, whole)
    (FOLDER / kept_positions.FILE).write_bytes(data)
    print(f"{len(whole.kept)} policies, {len(data) // 1024} KiB")


if __name__ == "__main__":
    main()
