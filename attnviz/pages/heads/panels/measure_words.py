"""What patterns, costs and texts are called on the page."""

from __future__ import annotations

import math

from attnviz.base.words import _

MOST_DIGITS = 5


def measures() -> dict[str, str]:
    """Pattern or cost -> its name."""
    return {
        "induction": _("induction"),
        "previous_token": _("previous token"),
        "duplicate_token": _("earlier copies"),
        "first_token": _("first token"),
        "same_token": _("the token itself"),
        "next_token": _("next token"),
        "silenced": _("cost of silencing it"),
        "mean": _("cost of its mean in its place"),
        "direct": _("what it adds to the right token"),
    }


def explained() -> dict[str, str]:
    """Pattern or cost -> what its number is."""
    return {
        "induction": _("Weight on what followed an earlier copy of the token, over the rows where there is one."),
        "previous_token": _("Weight on the token just before."),
        "duplicate_token": _("Weight on earlier copies of the token, over the rows where there is one."),
        "first_token": _("Weight on the first token, which often only takes what a head has no use for."),
        "same_token": _("Weight on the token itself."),
        "next_token": _("Weight on the token just after, which only an encoder can see."),
        "silenced": _("How much the loss of the next token rises, in nats, when the head's output is set to 0."),
        "mean": _("How much the loss of the next token rises, in nats, when the head's output is set to its mean."),
        "direct": _("What the head itself adds to the logit of the right next token, above the average logit."),
    }


def with_error(mean: float, stderr: float, digits: int, *, signed: bool = False) -> str:
    """A mean with its standard error, to so many digits that the error is not 0; a single sentence has none."""
    if 0 < stderr < 0.5 * 10**-digits:
        digits = min(math.ceil(-math.log10(2 * stderr)), MOST_DIGITS)
    number = f"{mean:{'+' if signed else ''}.{digits}f}"
    return number if math.isnan(stderr) else f"{number} ± {stderr:.{digits}f}"


def texts() -> dict[str, str]:
    return {
        "repeated": _("random words, twice"),
        "books": _("passages of novels"),
        "own": _("your own text"),
    }
