"""The folder of a Space: its settings, its Dockerfile, and everything that the Dockerfile asks for."""

import re
import tomllib

import pytest
import yaml

from deploy import space
from tests.deploy.test_manifests import BY_KIND, DOCKERFILE


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    there = tmp_path_factory.mktemp("space") / "attnviz"
    space.main([str(there)])
    return there


def test_the_image_can_be_built_from_it_alone(folder):
    dockerfile = (folder / "Dockerfile").read_text("utf-8")
    assert dockerfile == DOCKERFILE
    asked = space.copied(dockerfile)
    assert {"attnviz", "pages", ".streamlit", "app.py", "requirements-locked.txt"} <= set(asked)
    for name in asked:
        assert (folder / name).exists(), name
    assert not list(folder.rglob("__pycache__"))
    assert not list(folder.rglob("secrets.toml"))


def test_its_settings_are_the_images(folder):
    _before, front, readme = (folder / "README.md").read_text("utf-8").split("---\n", 2)
    settings = yaml.safe_load(front)
    assert settings["sdk"] == "docker"
    ports = BY_KIND["Deployment"]["spec"]["template"]["spec"]["containers"][0]["ports"]
    assert settings["app_port"] == ports[0]["containerPort"]
    assert f"--server.port {settings['app_port']}" in DOCKERFILE.replace('", "', " ").replace('"', "")
    project = tomllib.loads((folder / "pyproject.toml").read_text("utf-8"))["project"]
    assert settings["license"] == project["license"].lower()
    assert readme.lstrip().startswith("# attnviz")


def test_every_picture_and_page_that_its_readme_leads_to_is_there(folder):
    leads_to = r"\]\((?!https?:)([^)#]+)"
    for page in (folder / "README.md", *folder.rglob("docs/*.md")):
        for name in re.findall(leads_to, page.read_text("utf-8")):
            assert (page.parent / name).is_file(), f"{page.name} leads to {name}"
    assert (folder / "docs/images/start.png").is_file()
    assert (folder / "docs/hosting/serving.md").is_file()


def test_a_space_runs_its_image_as_user_1000():
    """So the image's own user is that one, and what it may write is his."""
    assert re.search(r"useradd .*--uid 1000\b", DOCKERFILE)


def test_a_folder_that_is_there_is_not_written_into(tmp_path, capsys):
    with pytest.raises(SystemExit):
        space.main([str(tmp_path)])
    assert "is there already" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []
