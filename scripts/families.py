"""Try capture on every family of the installed transformers and write docs/families.md.

    python -m scripts.families            # all families, about ten minutes on one core
    python -m scripts.families llama t5   # only these, printed and not written

Each family is built from a tiny random config and run under `capture` on its default path. The result is
compared with what the model itself reports on its eager path with `output_attentions=True`, in float32.
"""

import signal
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path

import transformers
from transformers.models.auto.modeling_auto import MODEL_MAPPING_NAMES

from scripts.family_page import page, summary
from tests.models.capture.family_check import Verdict, check
from tests.models.capture.family_inputs import inputs_for
from tests.models.capture.tiny_config import changed, classes, tiny

PAGE = Path(__file__).parent.parent / "docs" / "families.md"
SECONDS = 15  #: time limit for one family


class TooSlow(BaseException):
    """A family exceeded its time limit. Not an Exception, so that no `except Exception` catches it on the way."""


def main(names: list[str]) -> None:
    warnings.filterwarnings("ignore")
    transformers.logging.set_verbosity_error()
    signal.signal(signal.SIGALRM, _ring)
    verdicts = {}
    for name in names or MODEL_MAPPING_NAMES:
        verdicts[name] = verdict = judge(name)
        print(f"{name:40} {summary(verdict)}", flush=True)
    if not names:
        PAGE.write_text(page(verdicts), encoding="utf-8")


def judge(name: str) -> Verdict:
    """The verdict on one family: capture against its eager path, or why the family could not be tried."""
    signal.alarm(SECONDS)
    first = ""
    try:
        for layers in (2, 4, 8):  # in hybrids only every fourth or eighth layer has attention
            for verdict in _attempts(name, layers):
                if not verdict.failure:
                    return verdict
                first = first or verdict.failure
    except TooSlow:
        return Verdict(failure=first or "takes too long on a tiny config")
    except Exception as error:
        return Verdict(failure=first or _short(error))
    finally:
        signal.alarm(0)
    return Verdict(failure=first)


def _attempts(name: str, layers: int) -> Iterator[Verdict]:
    model_class, config_class = classes(name)
    changes = changed(name, config_class)
    for inputs in inputs_for(tiny(config_class, layers, **changes), model_class):
        try:
            yield check(model_class, tiny(config_class, layers, **changes), inputs)
        except Exception as error:
            yield Verdict(failure=_short(error))


def _short(error: Exception) -> str:
    text = " ".join(str(error).split()).replace("|", "/") or type(error).__name__
    return text if len(text) <= 110 else text[:107] + "..."


def _ring(*_: object) -> None:
    raise TooSlow


if __name__ == "__main__":
    main(sys.argv[1:])
