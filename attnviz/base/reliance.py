"""What we lean on in another library that its documentation does not promise, and whether it is still there."""

from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version

from attnviz.base.message import Message


@dataclass(frozen=True)
class Dependency:
    """One thing inside a library: its name there, our file that uses it, what for, and how to see that it holds."""

    library: str
    what: str
    user: str
    purpose: str
    holds: Callable[[], bool]  #: whatever it raises counts as no


def missing_dependencies(dependencies: Iterable[Dependency]) -> list[Message]:
    """One sentence for each that no longer holds."""
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


def _holds(reliance: Dependency) -> bool:
    with suppress(Exception):  # a library that changed may fail in any way
        return reliance.holds()
    return False


def _installed_version(library: str) -> str:
    with suppress(PackageNotFoundError):
        return version(library)
    return "?"
