"""How scripts reach the browser: by address under a strict policy where attnviz is installed, else as text.

The server runs under a base path, every page is opened by its own address, and nothing may be logged as an error.
"""

import re
import shutil
import subprocess
import sys
import sysconfig
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from attnviz.canvas.shared.component import NAMES
from attnviz.serve.page_table import PAGES
from tests.browser.conftest import ROOT, Server
from tests.browser.saving import saved

pytestmark = pytest.mark.xdist_group("served")

Open = Callable[..., Any]


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
    """As `pip install -r requirements.txt` installs it."""
    return python_with(tmp_path_factory.mktemp("installed") / "venv", "-r", "requirements.txt")


@pytest.fixture(scope="module")
def under_a_path(installed: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of the installed app, below a base path."""
    log = tmp_path_factory.mktemp("server") / "log.txt"
    server = Server(ROOT / "app.py", log, python=installed, base_path="deep/base")
    yield server.url
    server.stop()


@pytest.fixture
def never_installed(serve: Callable[[Path], str], server_url: str) -> str:
    """The address of the app run from a clone; the tests' own environment may have it installed."""
    if policy(server_url).find("blob:") < 0:
        pytest.skip("the environment that runs the tests has attnviz installed")
    return server_url


def test_whoever_follows_the_readme_or_runs_make_installs_it_so() -> None:
    assert "\npip install -r requirements.txt\n" in (ROOT / "README.md").read_text(encoding="utf-8")
    recipe = subprocess.run(["make", "-n", "-B", "run"], cwd=ROOT, check=True, capture_output=True, text=True).stdout
    install, start = (recipe.index(part) for part in ("-r requirements.txt", "streamlit run app.py"))
    assert install < start


def policy(url: str) -> str:
    """What the server allows a page's scripts."""
    with urllib.request.urlopen(url) as answer:
        return re.search(r"script-src ([^;]*)", answer.headers["Content-Security-Policy"])[1]


def watch_scripts(page: Any) -> list[str]:
    """The addresses of component scripts, as they are fetched."""
    fetched: list[str] = []
    page.on(
        "requestfinished", lambda request: fetched.append(request.url) if "bidi-components" in request.url else None
    )
    return fetched


def wait_until_drawn(page: Any) -> None:
    page.locator(".stApp[data-test-script-state=notRunning]").wait_for(timeout=60_000)
    page.locator("h1, h2").first.wait_for()
    page.wait_for_load_state("networkidle")


@pytest.mark.parametrize("row", PAGES, ids=lambda row: row.name)
def test_every_page_opens_by_its_address_under_the_policy(under_a_path: str, new_page: Open, row: Any) -> None:
    page = new_page(bypass_csp=False)
    answer = page.goto(f"{under_a_path}/{'' if row.is_home else row.name}")
    allowed = answer.headers["content-security-policy"]
    assert re.search(r"script-src 'self' 'sha256-[\w+/=]+';", allowed), "no blob:, no unsafe-eval"
    wait_until_drawn(page)
    assert page.get_by_test_id("stException").count() == 0


def test_the_policy_is_one_that_a_browser_obeys(under_a_path: str, browser: Any) -> None:
    page = browser.new_page()
    page.goto(under_a_path)
    wait_until_drawn(page)
    run = (
        "() => { const s = document.createElement('script'); s.textContent = 'window.ran = 1'; document.head.append(s);"
    )
    assert page.evaluate(run + " return window.ran ?? 'refused' }") == "refused"
    assert (
        page.evaluate("() => import(URL.createObjectURL(new Blob(['']))).then(() => 'ran', () => 'refused')")
        == "refused"
    )
    page.close()


def test_components_come_by_address_and_a_click_reaches_python(under_a_path: str, new_page: Open) -> None:
    page = new_page(bypass_csp=False)
    scripts = watch_scripts(page)
    with page.expect_response(lambda answer: "/deep/base/attnviz/heads/" in answer.url, timeout=60_000) as heads:
        page.goto(f"{under_a_path}/explore")
    assert heads.value.status == 200, "the heads of the sentence are fetched, below the base path"
    stage = page.get_by_test_id("overview")
    stage.wait_for(timeout=60_000)
    page.locator(".av-title").first.wait_for()
    before = page.locator(".av-title").first.text_content()
    assert {url.split("/deep/base/")[1] for url in scripts} >= {
        f"_stcore/bidi-components/attnviz.{name}/{name}.js" for name in ("overview", "head")
    }
    stage.focus()
    for key in ("ArrowRight", "ArrowDown", "Enter"):
        page.keyboard.press(key)
    page.locator(".av-title", has_not_text=before).first.wait_for()
    page.wait_for_url(re.compile(r"/deep/base/explore\?"))


def test_a_figure_is_saved_by_its_address(under_a_path: str, new_page: Open) -> None:
    page = new_page(bypass_csp=False)
    page.goto(f"{under_a_path}/scaling")
    wait_until_drawn(page)
    page.get_by_role("button", name="Export").first.click()
    svg = saved(page, page.get_by_role("button", name="SVG", exact=True))
    assert Path(svg.path()).read_text(encoding="utf-8").startswith("<svg")


def test_a_clone_that_was_never_installed_draws_the_same_bundles(never_installed: str, new_page: Open) -> None:
    page = new_page(bypass_csp=False)
    scripts = watch_scripts(page)
    page.goto(f"{never_installed}/masks")
    page.get_by_test_id("mask").first.wait_for(timeout=60_000)
    assert not scripts, "handed over as text"
    assert "blob:" in policy(never_installed)


@pytest.mark.slow
def test_a_wheel_brings_its_scripts_and_serves_them_by_address(tmp_path: Path, new_page: Open) -> None:
    clone = tmp_path / "clone"  # what is built leaves traces that would get into the next wheel
    shutil.copytree(ROOT / "attnviz", clone / "attnviz", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", clone)
    build = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation", "--no-index"]
    subprocess.run([*build, "--wheel-dir", str(tmp_path), str(clone)], check=True)
    (wheel,) = tmp_path.glob("attnviz-*.whl")
    python = python_with(tmp_path / "venv", str(wheel))
    script = tmp_path / "away" / "script.py"
    script.parent.mkdir()
    script.write_text(
        "import numpy as np\nimport streamlit as st\nfrom attnviz import canvas\n"
        "from attnviz.canvas.mask import mask_grid\n"
        "grid = st.session_state.setdefault('grid', np.tri(5, dtype=bool))\n"
        "mask_grid('m', grid, list('abcde'), on_change=lambda new: st.session_state.update(grid=new))\n"
        "st.write(f'kept {grid.sum()}')\nst.write(canvas.__file__)\n"
    )
    server = Server(script, tmp_path / "log.txt", python=python, cwd=script.parent)
    try:
        for name in NAMES:
            with urllib.request.urlopen(f"{server.url}/_stcore/bidi-components/attnviz.{name}/{name}.js") as answer:
                assert answer.status == 200
                assert b"as default}" in answer.read()
        page = new_page(bypass_csp=False)
        scripts = watch_scripts(page)
        page.goto(server.url)
        stage = page.get_by_test_id("mask")
        page.get_by_text("kept 15").wait_for()
        x, y, wide, high = (float(part) for part in stage.get_attribute("data-plot").split(","))
        stage.click(position={"x": x + 0.9 * wide, "y": y + 0.1 * high})
        page.get_by_text("kept 16").wait_for()
        page.get_by_text(str(tmp_path)).wait_for()  # the package is the wheel's, not the clone's
        assert [url.rsplit("/", 1)[1] for url in scripts] == ["mask.js"]
    finally:
        server.stop()
