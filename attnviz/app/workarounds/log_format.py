"""Streamlit's lines in the log are written as all others are.

Seen in Streamlit 1.67: each of its loggers has a handler of its own, set up anew with the one format that it knows, so
that a hosted server's log is no JSON and may quote what a visitor typed. Words for a report: "logger handlers ignore
logging.basicConfig, logger.messageFormat cannot be a Formatter".
"""

import logging


def set_format(formatter: logging.Formatter) -> None:
    """Patch Streamlit so that all its loggers use `formatter`."""
    from streamlit import logger as loggers

    original = loggers.setup_formatter

    def set_up(logger: logging.Logger) -> None:
        original(logger)
        for handler in logger.handlers:
            handler.setFormatter(formatter)

    loggers.setup_formatter = set_up
    loggers.update_formatter()


def is_compatible() -> bool:
    """Whether two functions still set all loggers up by a third, which they look up by its name."""
    from streamlit import logger as loggers

    makers = [vars(loggers).get(name) for name in ("get_logger", "update_formatter")]
    return all(callable(maker) and "setup_formatter" in maker.__code__.co_names for maker in makers)
