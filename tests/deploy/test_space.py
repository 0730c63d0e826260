"""The folder of a Space: its settings, its Dockerfile, and everything that the Dockerfile asks for."""

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
