"""What transformers' Trainer calls, for a context manager that is to be open while it trains."""

from contextlib import AbstractContextManager
from typing import Any

from transformers import TrainerCallback


class ContextCallback(TrainerCallback):
    """Opens a context as a training begins, and closes it as it ends."""

    def __init__(self, context: AbstractContextManager[Any]) -> None:
        self.context = context

    def on_train_begin(self, *_args: Any, **_kwargs: Any) -> None:
        self.context.__enter__()

    def on_train_end(self, *_args: Any, **_kwargs: Any) -> None:
        self.context.__exit__(None, None, None)
