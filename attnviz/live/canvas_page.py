"""A canvas of the app in one file, with no server and no network: the component's own script, and what it was sent."""

import html

from attnviz.base.packed import pack_blob, unpack_blob
from attnviz.base.words import _
from attnviz.live import (
    POLICY,
    Theme,
    bundle_style,
    bundle_text,
    canvas_wording,
    deflate_base64,
    inert_json,
    packed_script,
    page_document,
    safe_web_address,
)

COMPONENTS = "../../canvas/bundles"
#: a component's script is a module, which the file's own script imports from where it stands
WITH_MODULE = POLICY.replace("script-src", "script-src data:")
#: a worker's script stands in the file too, and it runs a program of WebAssembly
WITH_WORKER = WITH_MODULE.replace("script-src", "script-src 'wasm-unsafe-eval'")
NOBODY = {"session": "live", "ack": 0}  #: whom a component's gestures are told in a file


def canvas_page(
    component: str,
    data: bytes,
    title: str,
    note: str = "",
    link: str | None = None,
    *,
    moves: bool = False,
    worker: str = "",
    theme: Theme = "auto",
) -> str:
    """The HTML of the file. `data`: what `component` was sent, a header and a payload; one that `moves` has a film.

    `worker`: the script that it has run apart from the page's own.
    """
    header, payload = unpack_blob(data)
    about = {
        "title": title,
        "note": note,
        "link": safe_web_address(link),
        "words": {"open": _("Open in the app"), "made": _("Made with attnviz")},
        "film": canvas_wording.film_menu_text() if moves else None,
    }
    scripts = {"shared": f"{COMPONENTS}/shared.js", "script": f"{COMPONENTS}/{component}.js"}
    scripts |= {"film": f"{COMPONENTS}/film_menu.js"} if moves else {}
    scripts |= {worker: f"{COMPONENTS}/{worker}.js"} if worker else {}
    modules = "".join(packed_script(name, file) for name, file in scripts.items())
    return page_document(
        html.escape(title or "attnviz"),
        bundle_style("canvas_file.css", f"{COMPONENTS}/{component}.css"),
        inert_json(about),
        deflate_base64(pack_blob(header | NOBODY, payload)),
        f"{modules}<script>{bundle_text('canvas_file.js')}</script>",
        theme,
        WITH_WORKER if worker else WITH_MODULE,
    )
