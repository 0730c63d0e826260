"""The log of a hosted server: one JSON object a line, and never a word that a visitor typed.

Our own messages are written by us and kept as they are. Of an error its type and the places in the code are kept, not
its message, which may quote a sentence. Of what other libraries log, words that were put in are left out, and of a text
that came ready-made whatever stands in quotation marks or behind the "?" of an address.
"""

import json
import logging
import re
import sys
import threading
import traceback
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from streamlit import config

from attnviz.app.workarounds import log_format

APP_LOGGER: Final = "attnviz"
HIDDEN: Final = "…"
LONGEST: Final = 300  #: characters of another library's message
FRAMES: Final = 12  #: places of an error, the innermost ones
_STANDARD: Final = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName"}
_NUMBER: Final = int | float
_QUOTED: Final = re.compile(r"'[^']*'|\"[^\"]*\"|`[^`]*`")
_QUERY: Final = re.compile(r"\?\S+")


class LogLines(logging.Formatter):
    """Writes a record as one line of JSON."""

    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, Any] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "event": _event_text(record),
        }
        line |= {
            name: value for name, value in vars(record).items() if name not in _STANDARD and isinstance(value, _NUMBER)
        }
        if record.exc_info and record.exc_info[0] is not None:
            line["error"] = record.exc_info[0].__name__
            frames = traceback.extract_tb(record.exc_info[2])[-FRAMES:]
            line["at"] = [f"{Path(frame.filename).name}:{frame.lineno} {frame.name}" for frame in frames]
        return json.dumps(line, ensure_ascii=False)


def begin_logging() -> None:
    """Format the log lines of all libraries from now on."""
    lines = LogLines()
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(lines)
    logging.basicConfig(handlers=[handler], level=logging.WARNING, force=True)
    logging.getLogger("uvicorn.access").disabled = True  # each request's address, which holds a visitor's view
    logging.getLogger("uvicorn.error").setLevel(logging.WARNING)  # three lines for each visitor, of whom ours tells
    logging.captureWarnings(True)
    log = logging.getLogger(APP_LOGGER)
    log.setLevel(logging.INFO)
    sys.excepthook = lambda *error: log.error("the process ended by an error", exc_info=error)
    threading.excepthook = lambda failure: log.error("a thread ended by an error", exc_info=failure.exc_value)
    sys.unraisablehook = lambda failure: log.error("an error that nobody can catch", exc_info=failure.exc_value)
    config.set_option("logger.enableRich", False)  # or errors that no page caught are drawn past all loggers
    if log_format.is_compatible():
        log_format.set_format(lines)


def strip_quotes(text: str) -> str:
    """The first line of a ready-made text, without what stands in quotation marks or behind the "?" of an address."""
    return _QUERY.sub(f"?{HIDDEN}", _QUOTED.sub(HIDDEN, text.partition("\n")[0]))[:LONGEST]


def _event_text(record: logging.LogRecord) -> str:
    is_ours = record.name == APP_LOGGER or record.name.startswith(f"{APP_LOGGER}.")
    if record.name == "py.warnings":
        match = re.match(r"(?P<path>.*?):(?P<line>\d+): (?P<kind>\w+):", record.getMessage())
        return f"{match['kind']} at {Path(match['path']).name}:{match['line']}" if match else "a warning"
    args = record.args
    if not args:
        return str(record.msg) if is_ours else strip_quotes(str(record.msg))
    try:
        if isinstance(args, Mapping):
            return str(record.msg) % {name: _redact(value, is_ours) for name, value in args.items()}
        return str(record.msg) % tuple(_redact(value, is_ours) for value in args)
    except (TypeError, ValueError):  # what was put in does not fit any more, as a word in the place of a number
        return str(record.msg)


def _redact(value: Any, keep_text: bool) -> Any:
    """An argument of a log message: errors by type, text only where `keep_text`, else hidden."""
    if isinstance(value, BaseException):
        return type(value).__name__
    return value if keep_text or isinstance(value, _NUMBER) else HIDDEN
