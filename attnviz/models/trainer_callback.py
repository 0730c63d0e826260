"""What transformers' Trainer calls, for a context manager that is to be open while it trains."""

from contextlib import AbstractContextManager, ExitStack
from typing import Any

from transformers import TrainerCallback


class ContextCallback(TrainerCallback):
    """Opens a context as a training begins, and closes it as it ends."""

    def __init__(self, context: AbstractContextManager[Any]) -> None:
        self.context = context
        self._open = ExitStack()

    def on_train_begin(self, *_args: Any, **_kwargs: Any) -> None:
        self._open.close()  # a training that failed has told of no end
        self._open.enter_context(self.context)

    def on_train_end(self, *_args: Any, **_kwargs: Any) -> None:
        self._open.close()
