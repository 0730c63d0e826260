"""The figures of `benchmarks.load` as kept in measured.json, and docs/visitors.md, which is written from them alone.

Mean, or seconds as median and 95th percentile. What was measured on a busy machine says how busy it was.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from benchmarks.load.habits import OWN, SHARES, WITH_OWN
from benchmarks.measuring import machine
from benchmarks.tables import table

KEPT = Path(__file__).with_name("measured.json")
PAGE = Path(__file__).parents[2] / "docs" / "visitors.md"
AN_OPEN, AN_ANSWER = 50, 25  #: milliseconds of processor time: the budgets
OPENS_WITHIN, ANSWERS_WITHIN = 2.0, 1.0  #: seconds that 95 of 100 may take
CLIENTS = 0.3  #: of a core: what the clients may use themselves, or their times do not count
OF_AN_OPEN = "an open's "

ABOUT = """# Many visitors at once

Written by `python -m benchmarks.load --write` from what it measured (`benchmarks/load/measured.json`); nothing is typed
by hand. Visitors come within 30 s and act every 8 s: of 100 acts 40 choose a head, 30 move mask or scale, 10 type the
class's sentence or, a tenth of them, their own, 10 turn to another page, 10 use any of its controls. An open includes
every file that a real Chromium fetched with an empty cache. A tenth of the visitors type sentences of their own, and
their sentences follow them to the other pages: what they do there stands in rows of its own, and counts for a tenth.
"""


def keep(what: str, rows: Any) -> None:
    """Keep these figures in place of the last of their kind, and write the page anew."""
    held = json.loads(KEPT.read_text("utf-8")) if KEPT.exists() else {}
    day = datetime.now(UTC).date().isoformat()
    held[what] = {"machine": machine(), "load": round(os.getloadavg()[0], 1), "day": day, "rows": rows}
    KEPT.write_text(json.dumps(held, indent=1, sort_keys=True) + "\n", "utf-8")
    PAGE.write_text(page(json.loads(KEPT.read_text("utf-8"))), "utf-8")  # in the order in which it is kept


def page(held: Mapping[str, Any]) -> str:
    """The whole page."""
    parts = [ABOUT]
    for what, heading, drawn in (
        ("one", "## One process", _class),
        ("several", "## Two processes behind nginx (`make serve-class`)", _class),
        ("kinds", "## Processor time, one visitor at a time", _kinds),
        ("hour", "## Hours of random use", _hour),
    ):
        if what in held:
            found = held[what]
            taken = f"{found['day']}, {found['machine']}; load at the end, its own included, {found['load']}."
            parts.append(f"{heading}\n\n{taken}\n\n{drawn(found['rows'])}")
    return "\n\n".join(part.strip("\n") for part in parts) + "\n"


def _class(rows: list[Mapping[str, Any]]) -> str:
    lines = []
    for row in rows:
        counts = row["clients"] < CLIENTS
        holds = row["opens"][1] <= OPENS_WITHIN and row["answers"][1] <= ANSWERS_WITHIN and not row["errors"]
        verdict = ("yes" if holds else "no") if counts else "does not count"
        server = f"{row['cores']:.2f} cores, {row['gigabytes']:.2f} GB" if "cores" in row else ""
        cells = [f"{row['visitors']:,}", _pair(row["opens"]), _pair(row["answers"]), _pair(row["painted"])]
        lines.append([*cells, str(row["errors"]), server, f"{row['clients']:.2f}", verdict])
    head = ["visitors", "an open", "an answer", "painted in a real browser", "errors", "server", "clients' cores"]
    return table([*head, f"95 of 100 within {OPENS_WITHIN:.0f} and {ANSWERS_WITHIN:.0f} s"], lines)


def _kinds(rows: Mapping[str, list[float]]) -> str:
    """Milliseconds, mean and median, of each kind; then both budgets."""
    lines = [[kind, f"{mean:.0f} ms", f"{middle:.0f} ms"] for kind, (mean, middle) in rows.items()]
    opened = sum(mean for kind, (mean, _) in rows.items() if kind.startswith(OF_AN_OPEN))
    answered = an_answer({kind: mean for kind, (mean, _) in rows.items()})
    verdict = [
        f"An open costs {opened:.0f} ms of at most {AN_OPEN}",
        f"an answer {answered:.0f} ms of at most {AN_ANSWER}, as often each as visitors do it.",
    ]
    return table(["what", "mean", "median"], lines).strip("\n") + f"\n\n{'; '.join(verdict)}"


def _hour(found: Mapping[str, Any]) -> str:
    """What was done, what the process held meanwhile, and each cache beside its limit."""
    size = found["gigabytes"]
    *others, last = (f"{most:.2f}" for most in size["most of each part"])
    took = "an hour" if found["hours"] == 1 else f"{found['hours']:g} hours"
    waits = ", ".join(f"{seconds:.1f} s on {page}" for page, seconds in found["longest waits"])
    told = (
        f"`python -m benchmarks.load.an_hour`: {found['at once']} visitors at once, {found['came']} in all, did without"
        f" a pause what takes {found['at once']} of them {took}: {found['acts']:,} acts in {found['minutes']:.1f}"
        f" minutes on every page, each sentence another. Errors: {found['errors']}. An answer took"
        f" {found['median wait']:.2f} s at the median; the longest {waits}.\n\nThe process held"
        f" {size['first']:.2f} GB at the start, at most {', '.join(others)} and {last} GB in the quarters of that time,"
        f" and {size['last']:.2f} GB at the end."
    )
    rows = [
        [name, f"{most / 1e6:,.0f} MB", f"{limit / 1e6:,.0f} MB", "yes" if most <= limit else "no"]
        for name, (most, limit) in found["caches"].items()
    ]
    return f"{told}\n\n{table(['cache', 'the most it held', 'its limit', 'kept'], rows)}"


def an_answer(means: Mapping[str, float]) -> float:
    """What an answer costs on average, each kind as often as visitors do it."""
    typed = {"the class's sentence": 1 - OWN, "a sentence of one's own": OWN}
    each = {
        "the class's sentence": sum(share * means[kind] for kind, share in typed.items()),
        "another page": _mean(means, "turn to "),
        "a control": _mean(means, "a control"),
    }
    return sum(share * each.get(kind, means.get(kind, 0.0)) for kind, share in SHARES.items()) / sum(SHARES.values())


def _mean(means: Mapping[str, float], begins: str) -> float:
    """Of all kinds that begin so; those of visitors with sentences of their own count as often as there are such."""
    kinds = [kind for kind in means if kind.startswith(begins)]
    usual, own = ([means[kind] for kind in kinds if kind.endswith(WITH_OWN) is its_own] for its_own in (False, True))
    parts = [(share, found) for share, found in ((1 - OWN, usual), (OWN, own)) if found]
    return sum(share * sum(found) / len(found) for share, found in parts) / (sum(share for share, _ in parts) or 1)


def _pair(seconds: list[float]) -> str:
    if not seconds:
        return ""
    middle, late = seconds
    return f"{middle * 1000:,.0f} / {late * 1000:,.0f} ms"
