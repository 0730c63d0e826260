"""A chart that one visitor has seen is not built again for the next one.

Plotly takes 3 to 15 ms to build a chart, and a class looks at the same ones. Charts of the same numbers in the same
language are one object, which everybody draws and nobody may change.
"""

import hashlib
import io
import pickle
from collections.abc import Callable
from typing import ParamSpec

from attnviz.app.cache.bounded_cache import BoundedCache
from attnviz.base.words import tongue
from attnviz.figures.label_room import keep_room
from attnviz.figures.theme import Figure

P = ParamSpec("P")

LIMIT = 48 * 2**20  #: bytes of all kept charts together, as they are sent
#: what is raised for a value that cannot be spelled out, so that nobody can say whether another one equals it
UNSPELLED = (pickle.PicklingError, AttributeError, TypeError, ValueError, RecursionError)


def chart_of(make: Callable[P, Figure], *args: P.args, **kwargs: P.kwargs) -> Figure:
    """`make(*args, **kwargs)`, or the chart that the same call made before, in the same language."""
    spelled = io.BytesIO()
    pickler = pickle.Pickler(spelled, 4)  # the fourth protocol does not tell whether an array may be written to
    pickler.fast = True  # nothing refers to what was spelled before: equal values are spelled alike
    try:
        pickler.dump((make.__module__, make.__qualname__, tongue(), args, kwargs))
    except UNSPELLED:
        return make(*args, **kwargs)
    return CHARTS.get(
        hashlib.blake2b(spelled.getbuffer(), digest_size=20).digest(), lambda: _final(make(*args, **kwargs))
    )


def _final(fig: Figure) -> Figure:
    """The chart, whose content for the browser is read from memory from now on: nobody changes it any more.

    To collect that content takes Plotly longer than all else that it takes to send a chart. Of Streamlit's template it
    keeps what is about its own kinds of traces: the rest is half of what a small chart sends.
    """
    content = keep_room(fig).to_dict()
    template, kinds = content["layout"]["template"], {trace.get("type", "scatter") for trace in content["data"]}
    template["data"] = {kind: looks for kind, looks in template["data"].items() if kind in kinds}
    object.__setattr__(fig, "to_dict", lambda: dict(content))
    return fig


def with_room(fig: Figure) -> Figure:
    """The chart with margins for its labels. A kept one has them, and is changed no more."""
    return fig if "to_dict" in vars(fig) else keep_room(fig)


CHARTS: BoundedCache[Figure] = BoundedCache(LIMIT, lambda fig: len(fig.to_json()))  # bytes, as the browser gets it
