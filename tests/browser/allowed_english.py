"""What may stand in Latin letters on a page in Chinese: names, symbols and units. Each group says why."""

from __future__ import annotations

NAMES: tuple[str, ...] = ()
ALLOWED: frozenset[str] = frozenset()
