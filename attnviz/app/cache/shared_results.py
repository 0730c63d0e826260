"""`@shared`: what is computed of what a visitor chose is computed once for all visitors, and kept within some bytes."""

from collections.abc import Callable, Hashable
from functools import wraps
from inspect import signature
from typing import Any, ParamSpec, TypeVar

from attnviz.app.cache.bounded_cache import BoundedCache, held_bytes

P = ParamSpec("P")
R = TypeVar("R")
LIMIT = 96_000_000  #: bytes of all results together
LEAST = 10_000  #: bytes that each counts as, for what it has besides its arrays
RESULTS: BoundedCache[Any] = BoundedCache(LIMIT, lambda result: max(held_bytes(result), LEAST))


def shared(compute: Callable[P, R], key: Callable[..., Hashable] | None = None) -> Callable[P, R]:
    """`compute`, of which equal calls have one result, which nobody may change.

    Parameters whose names begin with "_" do not tell calls apart; `key` says what does where values themselves do not.
    """
    parameters = signature(compute)

    @wraps(compute)
    def look_up(*args: P.args, **named: P.kwargs) -> R:
        if key is not None:
            call = key(*args, **named)
        else:
            given = parameters.bind(*args, **named)
            given.apply_defaults()  # else a value is taken for that of another parameter, which this call leaves out
            call = tuple(value for name, value in given.arguments.items() if not name.startswith("_"))
        result: R = RESULTS.get((compute, call), lambda: compute(*args, **named))
        return result

    return look_up
