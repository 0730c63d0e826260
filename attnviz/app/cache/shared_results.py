"""Cache computed results and charts for all visitors, bounded in bytes.

`@shared` is for what is computed. A chart takes Plotly 3 to 15 ms to build, and a class looks at the same ones: of
the same numbers in the same language they are one object, which everybody draws and nobody may change.
"""

import hashlib
import io
import pickle
from collections.abc import Callable, Hashable
from functools import cache, wraps
from inspect import signature
from typing import Any, ParamSpec, TypeVar

from attnviz.app.cache.bounded_cache import BoundedCache, count_bytes
from attnviz.base.words import current_language
from attnviz.figures.label_room import add_label_room
from attnviz.figures.theme import Figure

P = ParamSpec("P")
R = TypeVar("R")
LIMIT = 96_000_000  #: bytes of all results together
LEAST = 10_000  #: bytes that each counts as, for what it has besides its arrays
RESULTS: BoundedCache[Any] = BoundedCache(LIMIT, lambda result: max(count_bytes(result), LEAST))
CHARTS_LIMIT = 48 * 2**20  #: bytes of all kept charts together, as they are sent
#: what is raised for a value that cannot be spelled out, so that nobody can say whether another one equals it
UNSPELLED = (pickle.PicklingError, AttributeError, TypeError, ValueError, RecursionError)


@cache
def finished_results(section: str) -> BoundedCache[Any]:
    """The newest 64 results of a section that take long, each by its configuration, for all visitors."""
    return BoundedCache(64, lambda _result: 1)


def shared(compute: Callable[P, R], key: Callable[..., Hashable] | None = None) -> Callable[P, R]:
    """Wrap `compute` so that equal calls share one result, which nobody may change.

    Parameters whose names begin with "_" do not tell calls apart; `key` says what does where values themselves do not.
    """
    parameters = signature(compute)

    @wraps(compute)
    def look_up(*args: P.args, **named: P.kwargs) -> R:
        if key is not None:
            call = key(*args, **named)
        else:
            bound = parameters.bind(*args, **named)
            bound.apply_defaults()  # else a value is taken for that of another parameter, which this call leaves out
            call = tuple(value for name, value in bound.arguments.items() if not name.startswith("_"))
        result: R = RESULTS.get((compute, call), lambda: compute(*args, **named))
        return result

    return look_up


def cached_chart(make: Callable[P, Figure], *args: P.args, **kwargs: P.kwargs) -> Figure:
    """`make(*args, **kwargs)`, or the chart that the same call made before, in the same language."""
    serialized = io.BytesIO()
    pickler = pickle.Pickler(serialized, 4)  # the fourth protocol does not tell whether an array may be written to
    pickler.fast = True  # nothing refers to what was spelled before: equal values are spelled alike
    try:
        pickler.dump((make.__module__, make.__qualname__, current_language(), args, kwargs))
    except UNSPELLED:
        return make(*args, **kwargs)
    return CHARTS.get(
        hashlib.blake2b(serialized.getbuffer(), digest_size=20).digest(), lambda: _freeze_chart(make(*args, **kwargs))
    )


def _freeze_chart(fig: Figure) -> Figure:
    """The chart, whose content for the browser is read from memory from now on: nobody changes it any more.

    To collect that content takes Plotly longer than all else that it takes to send a chart. Of Streamlit's template it
    keeps what is about its own kinds of traces: the rest is half of what a small chart sends.
    """
    content = add_label_room(fig).to_dict()
    template, kinds = content["layout"]["template"], {trace.get("type", "scatter") for trace in content["data"]}
    template["data"] = {kind: looks for kind, looks in template["data"].items() if kind in kinds}
    object.__setattr__(fig, "to_dict", lambda: dict(content))
    return fig


def ensure_label_room(fig: Figure) -> Figure:
    """The chart with margins for its labels. A kept one has them, and is changed no more."""
    return fig if "to_dict" in vars(fig) else add_label_room(fig)


CHARTS: BoundedCache[Figure] = BoundedCache(CHARTS_LIMIT, lambda fig: len(fig.to_json()))
