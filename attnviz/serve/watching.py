"""Metrics for the operator of the server: visitors, how long answers take, the queue, memory and caches.

Numbers only, in Prometheus' text format at `/attnviz/metrics`: no sentence, no link, no address of a visitor. They and
Streamlit's own at `/_stcore/metrics` are for programs on this machine, by one rule for every way of serving. An
answer is timed where it leaves the server, from the message that asks for a run to the one that ends it, so that
every kind of run counts, those of fragments too.
"""

import logging
import time
from collections.abc import Callable, Iterable

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, ProcessCollector, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from attnviz.app.cache import model_cache
from attnviz.app.cache.bounded_cache import memory_after_trim
from attnviz.app.cache.shared_results import CHARTS
from attnviz.app.workarounds import streamlit_adapter
from attnviz.rooms.addresses import is_local

log = logging.getLogger("attnviz.answers")

NUMBERS = ("/attnviz/metrics", "/_stcore/metrics")  #: below the app's root

STREAM = "/_stcore/stream"  #: the web socket of Streamlit's pages

REGISTRY = CollectorRegistry()
VISITORS = Gauge("attnviz_visitors", "Visitors who are connected now", registry=REGISTRY)
OPENS = Counter("attnviz_opens", "Connections since the start", registry=REGISTRY)
HEALTH = Counter("attnviz_health_requests", "Questions about health", registry=REGISTRY)
ANSWERS = Histogram(
    "attnviz_answer_seconds",
    "From a visitor's message to the end of the run that answers it",
    buckets=(0.025, 0.05, 0.1, 0.25, 0.5, 1, 2, 5, 10, 30),
    registry=REGISTRY,
)
MEMORY = Gauge("attnviz_own_memory_bytes", "Memory that this process shares with nobody", registry=REGISTRY)
MEMORY.set_function(memory_after_trim)
FAILURES = Counter("attnviz_failed_runs", "Runs that ended with an error that no page caught", registry=REGISTRY)
ProcessCollector(registry=REGISTRY)


class CountErrors(logging.Handler):
    """Counts what Streamlit logs when a run ended with an error that no page caught."""

    def emit(self, record: logging.LogRecord) -> None:
        if record.exc_info:
            FAILURES.inc()


logging.getLogger(streamlit_adapter.ERRORS).addHandler(CountErrors())


class Caches(Collector):
    """The caches that visitors share, and the queue before the models, read when they are asked for."""

    def collect(self) -> Iterable[Metric]:
        here = model_cache.process_caches()
        size = GaugeMetricFamily("attnviz_cache_bytes", "Bytes held", labels=["cache"])
        limit = GaugeMetricFamily("attnviz_cache_limit_bytes", "Bytes that may be held", labels=["cache"])
        requests = CounterMetricFamily("attnviz_cache_requests", "Requests", labels=["cache", "found"])
        caches = {name: getattr(here, name) for name in ("models", "runs", "reruns", "results")}
        for name, cache in (caches | {"charts": CHARTS}).items():
            size.add_metric([name], cache.weight)
            limit.add_metric([name], cache.limit)
            requests.add_metric([name, "yes"], cache.hits)
            requests.add_metric([name, "no"], cache.misses)
        waiting = GaugeMetricFamily("attnviz_waiting_passes", "Passes that wait for a model", value=here.line.n_waiting)
        return size, limit, requests, waiting


REGISTRY.register(Caches())


class Watching:
    """ASGI middleware that counts connections and times answers on the web socket, and keeps the numbers from visitors.

    Everything else it passes on as it is.
    """

    def __init__(self, app: ASGIApp, clock: Callable[[], float] = time.monotonic) -> None:
        self.app = app
        self.clock = clock
        self.times = streamlit_adapter.reports_runs()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "websocket" or not scope["path"].endswith(STREAM):  # a phone in a room is no visitor
            refused = scope["type"] == "http" and is_foreign_metrics_request(Request(scope))
            await (Response(status_code=403) if refused else self.app)(scope, receive, send)
            return
        began: float | None = None  #: when the run that is under way was asked for

        async def timed_receive() -> Message:
            nonlocal began
            message = await receive()
            content = streamlit_adapter.parse_message(message.get("bytes") or b"") if self.times else None
            if content is not None and content.WhichOneof("type") == "rerun_script":
                began = self.clock()
            return message

        async def timed_send(message: Message) -> None:
            nonlocal began
            await send(message)
            if began is None or message["type"] != "websocket.send":
                return
            end = streamlit_adapter.run_outcome(message.get("bytes") or b"")
            if end in streamlit_adapter.ANSWERED:
                taken = self.clock() - began
                ANSWERS.observe(taken)
                log.info("answered", extra={"milliseconds": round(taken * 1000)})
            if end not in (None, streamlit_adapter.FOR_ANOTHER):
                began = None

        OPENS.inc()
        VISITORS.inc()
        log.info("a visitor came")
        try:
            await self.app(scope, timed_receive, timed_send)
        finally:
            VISITORS.dec()
            log.info("a visitor left")


def is_foreign_metrics_request(request: Request) -> bool:
    """Whether a request for metrics comes from another machine; a proxy on this one says for whom it asks."""
    return request.scope["path"].rstrip("/").endswith(NUMBERS) and (
        request.client is None
        or not is_local(request.client.host.removeprefix("::ffff:"))
        or not {"forwarded", "x-forwarded-for", "x-real-ip"}.isdisjoint(request.headers.keys())
    )


async def health(_request: Request) -> JSONResponse:
    """That this process answers."""
    HEALTH.inc()
    return JSONResponse({"status": "ok"}, headers={"Cache-Control": "no-store"})


def metrics(_request: Request) -> Response:
    """The numbers as they are now."""
    return Response(
        generate_latest(REGISTRY), media_type="text/plain; version=0.0.4", headers={"Cache-Control": "no-store"}
    )
