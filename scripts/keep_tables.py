"""Record what every page computes, so that a change which is meant to change nothing can be tested to.

python -m scripts.keep_tables [PAGE ...]      write tests/links/tables.json, whole or only these pages in it

What differs from the file before is printed: a new file is for a change that is meant.
"""

import json
import sys

from tests.links.tables import KEPT, LINKS, computed, differing, kept


def main(pages: list[str]) -> None:
    """Compute what is asked for, say what has changed, and write the file."""
    before = {(each["page"], each["link"]): each for each in (kept() if KEPT.exists() else ())}
    lines = []
    for page, links in LINKS.items():
        for link in links:
            old = before.get((page, link))
            new = computed(page, link) if old is None or not pages or page in pages else old
            for place in differing(old or new, new):
                print(f"{page}?{link}: {place}", flush=True)
            lines.append(json.dumps(new, ensure_ascii=False, separators=(",", ":")))
    KEPT.write_text("[\n" + ",\n".join(lines) + "\n]\n", "utf-8")
    print(f"{len(lines)} links in {KEPT.name}, {KEPT.stat().st_size:,} bytes")


if __name__ == "__main__":
    main(sys.argv[1:])
