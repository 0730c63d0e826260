"""The log of a hosted server: every line is JSON, and none holds a word that a visitor typed."""

import json
import logging
import subprocess
import sys
from pathlib import Path

from attnviz.serve.log_lines import LogLines

ROOT = Path(__file__).parents[2]
SENTENCE = "my secret sentence"


def line(name: str, message: object, *args: object, **more: object) -> dict[str, object]:
    """What is written of one record; that its sentence is not is asserted here, for all tests."""
    record = logging.LogRecord(name, logging.WARNING, "some.py", 1, message, args or None, None)
    vars(record).update(more)
    written = LogLines().format(record)
    assert "\n" not in written
    assert SENTENCE not in written
    return json.loads(written)


def raised(message: str) -> BaseException:
    try:
        raise KeyError(message)
    except KeyError as error:
        return error


def test_of_an_error_only_its_kind_and_place_are_kept():
    error = raised(SENTENCE)
    told = line("attnviz", "a panel failed", exc_info=(type(error), error, error.__traceback__))
    assert told["event"] == "a panel failed"
    assert told["error"] == "KeyError"
    assert told["at"] == [f"{Path(__file__).name}:{error.__traceback__.tb_lineno} raised"]
    assert line("attnviz", "no answer: %s", error)["event"] == "no answer: KeyError"


def test_an_error_that_nobody_caught_is_a_line_too():
    """Of a page, which Streamlit draws in colours where rich is there; of a thread; of a destructor; of the process.

    So is what loggers of Streamlit's that were made before say, anybody's, and Python's warnings.
    """
    program = f"""
import logging, threading, warnings
from streamlit import config
from streamlit.logger import get_logger
from streamlit.testing.v1 import AppTest
config.set_option("logger.enableRich", True)
before = get_logger("streamlit.before")
from attnviz.serve import log_lines
log_lines.begin_logging()
before.error("read %s", "{SENTENCE}")
logging.getLogger("anybody").error("read %s", "{SENTENCE}")
warnings.warn("{SENTENCE}")
def fail():
    raise KeyError("{SENTENCE}")
AppTest.from_string('raise KeyError("{SENTENCE}")').run()
thread = threading.Thread(target=fail)
thread.start()
thread.join()
class Held:
    def __del__(self):
        fail()
Held()
fail()
"""
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, cwd=ROOT, check=False)
    assert ended.stdout == ""
    assert SENTENCE not in ended.stderr
    lines = [json.loads(each) for each in ended.stderr.splitlines()]
    told = [each for each in lines if "error" in each]
    assert {"streamlit.before", "anybody", "py.warnings"} <= {each["logger"] for each in lines}
    assert [each["error"] for each in told] == ["KeyError"] * 4
    assert [each["logger"] for each in told] == ["streamlit.error_util", "attnviz", "attnviz", "attnviz"]
    assert told[0]["at"][-1].endswith("<module>"), "a page's script is the place"
    assert all(each["at"][-1].endswith("fail") for each in told[1:])
