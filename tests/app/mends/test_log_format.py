"""Streamlit's loggers write by one formatter, those that are made later too."""

import logging
from typing import Any

import pytest

from attnviz.app.mends import log_format


def formatters(*owners: logging.Logger) -> set[Any]:
    return {handler.formatter for logger in owners for handler in logger.handlers}


def test_loggers_made_before_and_after_write_by_the_one_that_is_given(monkeypatch: pytest.MonkeyPatch) -> None:
    from streamlit import logger as loggers

    monkeypatch.setattr(loggers, "setup_formatter", loggers.setup_formatter)
    before, own = loggers.get_logger("streamlit.made.before"), logging.Formatter()
    assert own not in formatters(before), "as Streamlit alone has it: the day this fails, take the mend out"
    assert log_format.has_what_it_needs()
    log_format.mend(own)
    assert formatters(before, loggers.get_logger("streamlit.made.after")) == {own}
    monkeypatch.undo()
    loggers.update_formatter()
