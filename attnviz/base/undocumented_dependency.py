"""Undocumented parts of other libraries that attnviz depends on, and checks that they are still there."""

from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version

from attnviz.base.message import Message


@dataclass(frozen=True)
class Dependency:
    """One undocumented name of a library: our file that uses it, its purpose, and a check that it still works."""

    library: str
    what: str
    user: str
    purpose: str
    holds: Callable[[], bool]  #: any exception counts as False


def missing_dependencies(dependencies: Iterable[Dependency]) -> list[Message]:
    """One message for each dependency whose check fails."""
    return [
        Message(
            "{library} {version} no longer has {what}: used by {user} for {purpose}",
            {
                "library": dependency.library,
                "version": _installed_version(dependency.library),
                "what": dependency.what,
                "user": dependency.user,
                "purpose": dependency.purpose,
            },
        )
        for dependency in dependencies
        if not _holds(dependency)
    ]


def _holds(dependency: Dependency) -> bool:
    with suppress(Exception):  # a library that changed may fail in any way
        return dependency.holds()
    return False


def _installed_version(library: str) -> str:
    with suppress(PackageNotFoundError):
        return version(library)
    return "?"
