"""Load a model by name, and find out which models are already on this machine."""

from attnviz.models.loading.example_traces import EXAMPLES, Example, is_prepared, prepare_examples, prepared_example
from attnviz.models.loading.load_model import bytes_on_hub, load
from attnviz.models.loading.locate import (
    Availability,
    availabilities,
    availability,
    bytes_on_disk,
    fetch,
    packaged_models,
    version,
)

__all__ = [
    "EXAMPLES",
    "Availability",
    "Example",
    "availabilities",
    "availability",
    "bytes_on_disk",
    "bytes_on_hub",
    "fetch",
    "is_prepared",
    "load",
    "packaged_models",
    "prepare_examples",
    "prepared_example",
    "version",
]
