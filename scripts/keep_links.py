"""Record links of the current app and what each shows, so that later versions can be tested to open them.

python -m scripts.keep_links VERSION             write tests/links/version_VERSION.json
python -m scripts.keep_links VERSION NAME ...    open kept links again, and record what they show

Each view of tests/links/views.py, of `LATER` for a version that is named there, is operated as a visitor would. The
link that the app writes is then opened in a fresh session, and what that session shows is recorded. If it differs from
the original view, the difference is printed and the link is recorded all the same: people have saved such links.
"""

import json
import sys
import tempfile
from pathlib import Path
from typing import Any

from attnviz.app.links import link_reading
from tests.links import amplified
from tests.links.differences import differences
from tests.links.opening import agreed, opened, translator
from tests.links.views import LATER, TRANSLATOR, VIEWS, View
from tests.links.what_a_link_shows import name_in_link, what_it_shows
from tests.pages.conftest import open_page, with_code

FOLDER = Path(__file__).parents[1] / "tests" / "links"


def main(version: str, *named: str) -> None:
    """Write the file, or in it what the links of these names show; print what a fresh session did not restore."""
    file = FOLDER / f"version_{version}.json"
    views = {view.name: view for view in LATER.get(f"version_{version}", VIEWS)}
    with tempfile.TemporaryDirectory(prefix="attnviz_links_") as scratch:
        folder = translator(Path(scratch))
        if named:
            held = json.loads(file.read_text("utf-8"))
            names = frozenset(held["parameters"])
            kept = [
                _again(views[one["name"]], one, names, folder) if one["name"] in named else one for one in held["links"]
            ]
        else:
            driven = [(view, *_driven(view, folder)) for view in views.values()]
            names = frozenset(name for _view, link, _page in driven for name in link)
            kept = [_kept(view, link, page, names, folder) for view, link, page in driven]
    text = ",\n".join(json.dumps(one, ensure_ascii=False, separators=(",", ":")) for one in kept)
    file.write_text(f'{{"parameters": {json.dumps(sorted(names))},\n"links": [\n{text}\n]}}\n', encoding="utf-8")
    print(f"{len(kept)} links with {len(names)} parameters in {file.name}, {file.stat().st_size:,} bytes")


def _again(view: View, one: dict[str, Any], names: frozenset[str], folder: str) -> dict[str, Any]:
    """One kept link, with what it shows now."""
    link: dict[str, Any] = {part: one[part] for part in ("name", "page", "link", "file") if part in one}
    shows = {"shows": what_it_shows(page := with_code(opened(open_page, link, folder)), names, {folder: TRANSLATOR})}
    return link | shows | ({"drawn": amplified.drawn(page)} if view.amplified else {})


def _driven(view: View, folder: str) -> tuple[dict[str, str], Any]:
    """The link that the app has written after all steps of a view, and the page at that point."""
    start = {name: text.replace(TRANSLATOR, folder) for name, text in view.start.items()}
    start |= {name: link_reading.pack(value) for name, value in view.packed.items()}
    page = agreed(open_page(view.page, **start))
    bound: dict[str, str] = {}
    for name, value in view.steps:
        control = _control(page, name)
        control.set_value(value).run()
        in_link = getattr(control.proto, "query_param_key", "")
        if in_link:
            bound[in_link] = _as_a_browser_writes(value)
    written = {name: page.query_params[name] for name in page.query_params}
    link = start | {name: text[-1] if isinstance(text, list) else text for name, text in written.items()}
    kept = {name_in_link(e) for e in page.main if getattr(getattr(e, "proto", None), "query_param_key", "")}
    gone = set(start) - set(written) - kept
    link = {name: text for name, text in (link | bound).items() if name not in gone}
    return {name: text.replace(folder, TRANSLATOR) for name, text in link.items()}, page


def _control(page: Any, name: str) -> Any:
    """The control with this name in the link or on the page."""
    found = [element for element in page.main if hasattr(element, "set_value") and name_in_link(element) == name]
    if len(found) != 1:
        raise LookupError(f"{len(found)} controls are called {name}")
    return found[0]


def _as_a_browser_writes(value: Any) -> str:
    """A bound control's value as the browser would write it into the address; AppTest runs without a browser."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return f"{value:.15g}" if isinstance(value, float) else str(value)


def _kept(view: View, link: dict[str, str], page: Any, names: frozenset[str], folder: str) -> dict[str, Any]:
    """A link together with what it shows in a fresh session."""
    file = {"file": view.file} if view.file else {}
    one = _again(view, {"name": view.name, "page": view.page, "link": link} | file, names, folder)
    if not view.file:
        for line in differences(what_it_shows(with_code(page), names, {folder: TRANSLATOR}), one["shows"]):
            print(f"{view.name} did not come back: {line}")
    return one


if __name__ == "__main__":
    main(*sys.argv[1:])
