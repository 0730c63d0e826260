"""From the wheel with [app] alone: the app is served, figures are made, heads looked through, models listed."""

import csv
import re
import subprocess
import tomllib
import urllib.request
import zipfile
from email import message_from_string

import pytest

from attnviz.canvas.shared.component import NAMES
from attnviz.serve.configuration import SETTINGS
from deploy.class_server import free_port
from scripts import locked
from tests.browser.conftest import CHROMIUM
from tests.serve.test_plain_server import answers
from tests.tracked import tracked
from tests.waiting import until
from tests.wheel import environments
from tests.wheel.environments import ROOT

pytestmark = pytest.mark.slow


def test_the_wheel_says_what_it_is_and_asks_for_little(wheel):
    told = message_from_string(environments.metadata(wheel))
    assert told["License-Expression"] == "Apache-2.0"
    assert any("Artificial Intelligence" in each for each in told.get_all("Classifier"))
    plain = [each for each in told.get_all("Requires-Dist") if "extra ==" not in each]
    assert sorted(re.split(r"[<>=]", each)[0] for each in plain) == ["numpy", "torch"]
    assert wheel.stat().st_size < 8_000_000, (
        "of which the life of a small model is 3.2 MB, charts of files 0.5, a language 0.15"
    )


def test_every_file_of_the_package_is_in_the_wheel(wheel):
    # a bundle and a compiled language are made of these
    sources = ("attnviz/canvas/", "attnviz/locale/", "attnviz/site/engine/", "attnviz/site/page/")
    shipped = (".mo", ".py")
    listed = tracked("attnviz")
    wanted = {n for n in listed if not n.startswith(sources) or n.endswith(shipped) or "/bundles/" in n}
    with zipfile.ZipFile(wheel) as file:
        assert wanted - set(file.namelist()) == set()


@pytest.fixture(scope="module")
def served(app, tmp_path_factory):
    """The address of `attnviz --port N`, run in an empty folder, with no model on the machine."""
    port = free_port()
    log = tmp_path_factory.mktemp("served") / "log.txt"
    env = {"PATH": "/usr/bin:/bin", "HOME": str(log.parent), "HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1"}
    process = subprocess.Popen(
        [str(app.attnviz), "--port", str(port)], cwd=app.away, env=env, stdout=log.open("w"), stderr=subprocess.STDOUT
    )
    url = f"http://127.0.0.1:{port}"

    def there():
        assert process.poll() is None, log.read_text()
        return answers(url)

    until(there, 120)
    yield url, log
    process.terminate()
    process.wait(20)


def test_attnviz_serves_the_app_with_its_settings_and_scripts(served):
    url, log = served
    for name in NAMES:
        with urllib.request.urlopen(f"{url}/_stcore/bidi-components/attnviz.{name}/{name}.js") as answer:
            assert answer.status == 200
    with urllib.request.urlopen(url) as page:
        allowed = re.search(r"script-src ([^;]*)", page.headers["Content-Security-Policy"])[1]
    assert "blob:" not in allowed, "scripts are served by address"
    said = log.read_text()
    assert "for this machine only" in said, "its own settings lie beside the script"
    assert "attnviz models fetch brings two" in said


@pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on this machine")
def test_the_start_page_opens_without_a_model(served, browser):
    url, _log = served
    page = browser.new_page()
    page.goto(url)
    page.get_by_text("install the packaged models to see a trained head").first.wait_for(timeout=120_000)
    side = page.get_by_test_id("stSidebar").evaluate("(node) => getComputedStyle(node).backgroundColor")
    theme = tomllib.loads(SETTINGS.read_text())["theme"]["light"]["secondaryBackgroundColor"]
    assert side == f"rgb({', '.join(str(part) for part in bytes.fromhex(theme[1:]))})"
    page.close()


def test_a_figure_is_made_from_a_link(app):
    out = [app.away / f"mask.{kind}" for kind in ("svg", "png", "html", "csv")]
    files = [part for file in out for part in ("-o", str(file))]
    made, listed, wrong, chinese = app.commands(
        ["figure", "/?scaled=false", *files],
        ["figure", "masks"],
        ["figure", "mask", "-o", "x.svg"],
        ["--lang", "zh", "figure", "/?scaled=false", "-o", "chinese.svg"],
    )
    assert made.returncode == chinese.returncode == 0, made.stderr + chinese.stderr
    assert re.search("[\u4e00-\u9fff]", (app.away / "chinese.svg").read_text("utf-8"))
    assert out[0].read_text().startswith("<svg")
    assert out[1].read_bytes().startswith(b"\x89PNG")
    assert "attnviz-heads" in out[2].read_text()
    assert len(list(csv.DictReader(out[3].open()))) == 13, "one for each word"
    assert "attention-after-mask" in listed.stdout or listed.stdout.count("\n") >= 2, listed.stderr
    assert wrong.returncode == 2
    assert "opens mask, which is not a page; the pages are home, " in wrong.stderr
    assert ", masks, " in wrong.stderr


def test_packaged_models_are_those_that_the_repository_installs():
    from attnviz.models.loading.locate import packaged_models

    listed = (ROOT / "requirements-models.txt").read_text()
    wheels = [entry.wheel for entry in packaged_models()]
    assert {f"{wheel.package}=={wheel.version}" for wheel in wheels} == set(locked.pinned(listed))
    assert all(f"--hash=sha256:{wheel.wheel_sha256}" in listed for wheel in wheels)
