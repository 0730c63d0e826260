"""The language of the command line: that of --lang, else of the environment, as other programs read it.

A served app is not concerned: each visitor's browser says its own.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Mapping, Sequence

from attnviz.base.message import Problem, Several
from attnviz.base.words import N_, _, languages, listed, set_usual_language, spoken

OPTION = "--lang"
#: where a language is looked for, the first that is set counts
VARIABLES = ("LANGUAGE", "LC_ALL", "LC_MESSAGES", "LANG")
#: what argparse says itself, in English alone
ARGPARSE = (
    N_("usage: "),
    N_("positional arguments"),
    N_("options"),
    N_("show this help message and exit"),
    N_("show program's version number and exit"),
    N_("%(prog)s: error: %(message)s\n"),
    N_("argument %(argument_name)s: %(message)s"),
    N_("the following arguments are required: %s"),
    N_("invalid choice: %(value)r (choose from %(choices)s)"),
    N_("invalid %(type)s value: %(value)r"),
    N_("expected one argument"),
)


def begin(arguments: Sequence[str]) -> list[str]:
    """Speak the language that the caller asks for; the arguments without it. Problem: there is no such language."""
    asked, others = _taken(arguments)
    set_usual_language(of_environment(os.environ))  # a refusal is said in it, too
    if asked is not None and asked not in languages():
        raise Problem("There is no language {asked}; there are: {known}", asked=asked, known=Several(languages()))
    if asked is not None:
        set_usual_language(asked)
    vars(argparse)["_"] = _  # its own words are looked up when they are said
    return others


def of_environment(environment: Mapping[str, str]) -> str | None:
    """The language that the environment asks for; None where it asks for none that is here."""
    asked = next((environment[name] for name in VARIABLES if environment.get(name)), "")
    found = spoken(asked.split(":")[0])
    return found if found != spoken(None) else None


def about() -> str:
    """What the option's help says."""
    return _("the language of what is said here and of figures, one of {known}; otherwise the environment's").format(
        known=listed(languages())
    )


def _taken(arguments: Sequence[str]) -> tuple[str | None, list[str]]:
    """The language in these arguments, wherever the option stands, and the others."""
    asked, others, rest = None, [], list(arguments)
    while rest:
        here = rest.pop(0)
        if here == OPTION and rest:
            asked = rest.pop(0)
        elif here.startswith(f"{OPTION}="):
            asked = here.partition("=")[2]
        else:
            others.append(here)
    return asked, others
