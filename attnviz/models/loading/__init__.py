"""Load a model by name, and find out which models are already on this machine."""

from attnviz.models.loading.example_traces import is_prepared, prepare_examples, prepared_example
from attnviz.models.loading.gguf import Progress
from attnviz.models.loading.load_model import load
from attnviz.models.loading.locate import Availability, availabilities, availability

__all__ = [
    "Availability",
    "Progress",
    "availabilities",
    "availability",
    "is_prepared",
    "load",
    "prepare_examples",
    "prepared_example",
]
