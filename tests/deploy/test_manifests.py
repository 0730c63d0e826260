"""What is written for other machines: valid by Kubernetes' own schema, of one mind with the app, enough for a Space."""

import re
import tomllib
from pathlib import Path
from typing import Any

import kubernetes_validate
import pytest
import yaml

from attnviz.models import settings
from deploy import space

DEPLOY = Path(__file__).parents[2] / "deploy"
MANIFESTS: list[dict[str, Any]] = list(yaml.safe_load_all((DEPLOY / "kubernetes" / "attnviz.yaml").read_text()))
BY_KIND = {each["kind"]: each for each in MANIFESTS}
CONTAINER = BY_KIND["Deployment"]["spec"]["template"]["spec"]["containers"][0]
DOCKERFILE = (DEPLOY / "Dockerfile").read_text()
COMPOSE = yaml.safe_load((DEPLOY / "compose.yaml").read_text())


@pytest.mark.parametrize("manifest", MANIFESTS, ids=lambda each: each["kind"])
def test_a_manifest_is_valid(manifest):
    kubernetes_validate.validate(manifest, "1.34", strict=True)


def test_the_manifests_speak_of_one_thing():
    pod = BY_KIND["Deployment"]["spec"]["template"]
    labels = pod["metadata"]["labels"]
    for kind in ("Service", "PodDisruptionBudget", "Deployment"):
        selector = BY_KIND[kind]["spec"]["selector"]
        assert selector.get("matchLabels", selector) == labels
    assert (
        BY_KIND["HorizontalPodAutoscaler"]["spec"]["scaleTargetRef"]["name"]
        == BY_KIND["Deployment"]["metadata"]["name"]
    )
    backend = BY_KIND["Ingress"]["spec"]["rules"][0]["http"]["paths"][0]["backend"]["service"]
    assert backend["name"] == BY_KIND["Service"]["metadata"]["name"]
    assert (
        BY_KIND["PodDisruptionBudget"]["spec"]["minAvailable"]
        < BY_KIND["HorizontalPodAutoscaler"]["spec"]["minReplicas"]
    )


def test_nothing_runs_as_root_and_everything_is_asked_for_its_health():
    assert CONTAINER["securityContext"]["readOnlyRootFilesystem"]
    for probe in ("readinessProbe", "livenessProbe"):
        assert CONTAINER[probe]["httpGet"]["path"] == "/attnviz/health"
    user = BY_KIND["Deployment"]["spec"]["template"]["spec"]["securityContext"]["runAsUser"]
    assert re.search(rf"useradd .*--uid {user}\b", DOCKERFILE)
    assert DOCKERFILE.rindex("USER attnviz") > DOCKERFILE.rindex("FROM ")
    assert "HEALTHCHECK" in DOCKERFILE
    assert "/attnviz/health" in DOCKERFILE


def test_settings_are_those_that_the_app_reads():
    named = {each["name"] for each in CONTAINER["env"]} | set(COMPOSE["services"]["attnviz"]["environment"])
    named |= set(re.findall(r"\b(?:ATTNVIZ|STREAMLIT)_\w+(?==)", DOCKERFILE))
    unknown = {name for name in named if name.startswith("ATTNVIZ_")} - set(settings.VARIABLES)
    assert unknown == set()


def test_a_process_refuses_long_work_before_its_container_is_ended():
    of_pod = next(each["value"] for each in CONTAINER["env"] if each["name"] == "ATTNVIZ_PROCESS_MB")
    service = COMPOSE["services"]["attnviz"]
    for mark, limit in (
        (of_pod, CONTAINER["resources"]["limits"]["memory"].removesuffix("Gi")),
        (service["environment"]["ATTNVIZ_PROCESS_MB"], service["mem_limit"].removesuffix("g")),
    ):
        assert 0.7 < int(mark) * 10**6 / (int(limit) * 2**30) < 0.85


def test_both_stages_are_built_from_one_base_that_can_be_named_by_its_digest():
    """An argument before the first FROM, and no other image."""
    (base,) = re.findall(r"^ARG BASE=(.+)$", DOCKERFILE.split("FROM ")[0], re.M)
    assert re.fullmatch(r"python:3\.11-slim(@sha256:[0-9a-f]{64})?", base)
    assert re.findall(r"^FROM (\S+)", DOCKERFILE, re.M) == ["${BASE}"] * 2


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
    front_settings = yaml.safe_load(front)
    assert front_settings["sdk"] == "docker"
    assert front_settings["app_port"] == CONTAINER["ports"][0]["containerPort"]
    assert f"--server.port {front_settings['app_port']}" in DOCKERFILE.replace('", "', " ").replace('"', "")
    project = tomllib.loads((folder / "pyproject.toml").read_text("utf-8"))["project"]
    assert front_settings["license"] == project["license"].lower()
    assert readme.lstrip().startswith("# attnviz")
