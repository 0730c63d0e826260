"""How a page reaches the browser that has never seen it, where attnviz is installed, under a path and a strict policy.

Nothing may be logged as an error, jump while the page comes, or be fetched that nobody asked for.
"""

import re
import subprocess
import sys
import sysconfig
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import expect

from attnviz.app.page_entry import CHART
from attnviz.serve.page_table import PAGES
from tests.browser.conftest import ROOT, Server, at_rest, still, until
from tests.browser.saving import copied, open_menu, saved

served = pytest.mark.xdist_group("served")
HIGHLIGHTER = "StreamlitSyntaxHighlighter"
#: The browser's own measure of how much moved by itself, and how far; from 0.1 on, people are disturbed by it.
LARGEST_SHIFT = 0.1
WATCH_SHIFTS = """(() => {
    const shifts = globalThis.shifts = [];
    const key = (node) => /st-key-[\\w-]+/.exec((node?.closest ? node : node?.parentElement)
        ?.closest("[class*=st-key-]")?.className)?.[0] ?? "?";
    new PerformanceObserver((list) => {
        for (const {hadRecentInput, value, sources} of list.getEntries()) {
            if (!hadRecentInput) shifts.push([value, ...sources.map(({node}) => key(node))]);
        }
    }).observe({type: "layout-shift", buffered: true});
})()"""
#: views of pages, and the words by which one sees that it is that view
VIEWS = {
    "home": ("", "What is attention?"),
    "explore": ("?at=5.4", "Layer 5, head 4"),
    "build": ("?b_step=softmax", "Softmax"),
    "masks": ("?m_rule1=window", "At 4,096 words"),
    "scaling": ("?s_section=softmax", "Why divide by √d_k?"),
    "sharing": ("?h_view=size", "Share keys and values"),
}


def python_with(folder: Path, *install: str) -> Path:
    """The Python of a new environment that sees this one's packages, after `pip install` of what is named."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True)
    python = folder / "bin" / "python"
    command = [str(python), "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"]
    packages = Path(subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip())
    (packages / "shared.pth").write_text(sysconfig.get_path("purelib") + "\n")
    if install:
        options = ["--quiet", "--no-deps", "--no-build-isolation", "--no-index", "--force-reinstall"]
        subprocess.run([str(python), "-m", "pip", "install", *options, *install], check=True, cwd=ROOT)
    return python


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """As `pip install -e .` installs it."""
    return python_with(tmp_path_factory.mktemp("installed") / "venv", "-e", ".")


@pytest.fixture(scope="module")
def under_a_path(installed: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of the installed app, below a base path."""
    log = tmp_path_factory.mktemp("server") / "log.txt"
    with Server(ROOT / "app.py", log, python=installed, base_path="deep/base") as server:
        yield server.url


def test_whoever_installs_by_hand_installs_what_make_does() -> None:
    make = ["make", "-n", "-B", "install-dev", "run"]
    recipe = subprocess.run(make, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    by_make = re.findall(r"-m pip install --quiet --disable-pip-version-check (-.*)", recipe)
    by_hand = re.findall(
        r"^pip install (-.*?)(?: *#.*)?$", (ROOT / "docs/using/install.md").read_text("utf-8"), re.MULTILINE
    )
    assert by_hand == [line for line in by_make if "$(" not in line], "but for a build of torch that lies beside"
    assert "-e ." in by_hand[3]
    assert recipe.index(by_hand[3]) < recipe.index("streamlit run app.py")


def policy(url: str) -> str:
    """What the server allows a page's scripts."""
    with urllib.request.urlopen(url) as answer:
        return re.search(r"script-src ([^;]*)", answer.headers["Content-Security-Policy"])[1]


def fetched(page: Any) -> list[str]:
    """The addresses that are asked for from now on."""
    found: list[str] = []
    page.on("request", lambda request: found.append(request.url))
    return found


def stays(page: Any) -> None:
    """Nothing that is read has jumped while the page came."""
    still(page)
    shifts = page.evaluate("() => shifts")
    assert sum(value for value, *_keys in shifts) < LARGEST_SHIFT, shifts


def where(address: str) -> tuple[str, dict[str, list[str]]]:
    parts = urlsplit(address)
    return parts.path.rstrip("/"), parse_qs(parts.query)


@served
def test_a_browser_obeys_the_policy_components_come_by_address_and_a_click_and_a_file_reach_it(under_a_path, new_page):
    page = new_page(bypass_csp=False)
    asked = fetched(page)
    with page.expect_response(lambda answer: "/deep/base/attnviz/heads/" in answer.url, timeout=60_000) as heads:
        page.goto(f"{under_a_path}/explore")
    assert heads.value.status == 200, "the heads of the sentence are fetched, below the base path"
    at_rest(page, "[data-testid=overview]", ".av-title")
    run = (
        "() => { const s = document.createElement('script'); s.textContent = 'window.ran = 1'; document.head.append(s);"
    )
    other = page.context.new_page()  # refusals are logged as errors: asked on a page that nobody watches
    other.goto(under_a_path)
    assert other.evaluate(run + " return window.ran ?? 'refused' }") == "refused"
    imported = "() => import(URL.createObjectURL(new Blob(['']))).then(() => 'ran', () => 'refused')"
    assert other.evaluate(imported) == "refused"
    other.close()
    before = page.locator(".av-title").first.text_content()
    scripts = {url.split("/deep/base/")[-1] for url in asked if "bidi-components" in url}
    assert scripts >= {f"_stcore/bidi-components/attnviz.{name}/{name}.js" for name in ("overview", "head")}
    page.get_by_test_id("overview").focus()
    for key in ("ArrowRight", "ArrowDown", "Enter"):
        page.keyboard.press(key)
    page.locator(".av-title", has_not_text=before).first.wait_for()
    page.wait_for_url(re.compile(r"/deep/base/explore\?"))
    open_menu(page.locator(".st-key-head-out-save-menu button").first)
    svg = saved(page, page.get_by_role("button", name="SVG", exact=True))
    assert Path(svg.path()).read_text(encoding="utf-8").startswith("<svg")


@served
@pytest.mark.parametrize("row", PAGES, ids=lambda row: row.name)
def test_a_page_comes_to_a_stranger_s_phone_and_a_laptop_without_a_jump_and_its_copied_link_is_that_of_the_view(
    under_a_path, new_page, row
):
    query, words = VIEWS.get(row.name, ("", ""))
    path, asked = where(f"/deep/base/{'' if row.is_home else row.name}{query}")
    page = new_page(width=390, height=844, stranger=True, bypass_csp=False)
    scripts = fetched(page)
    page.add_init_script(WATCH_SHIFTS)
    answer = page.goto(f"{under_a_path}{path.removeprefix('/deep/base')}{query}")
    assert re.search(r"script-src 'self' 'sha256-[\w+/=]+';", answer.headers["content-security-policy"])
    at_rest(page)
    stays(page)
    assert page.get_by_test_id("stException").count() == 0
    begins = [name for name in (CHART, HIGHLIGHTER) if any(f"/{name}" in url for url in scripts)]
    assert HIGHLIGHTER not in begins, "no page begins with the highlighter"
    if CHART in row.scripts:
        until(lambda: page.evaluate("() => 0") or any(f"/{CHART}" in url for url in scripts))
    if query:
        page.context.grant_permissions(["clipboard-read", "clipboard-write"])
        page.get_by_role("button", name="Share").first.click()
        assert where(copied(page, "Copy link")) == (path, asked)
    page.set_viewport_size({"width": 1440, "height": 900})
    page.reload()
    at_rest(page)
    stays(page)
    if words:
        expect(page.get_by_text(words).filter(visible=True).first).to_be_visible()
    assert where(page.url) == (path, asked)
    expect(page.locator("[data-testid=stSidebar] a[href*=glossary]")).to_be_visible()
