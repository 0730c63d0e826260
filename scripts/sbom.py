"""Write what attnviz is made of, as CycloneDX 1.6: every locked Python package, and the JavaScript of the bundles.

python -m scripts.sbom > attnviz.cdx.json        or: make sbom

Versions and digests are those of requirements-locked*.txt, requirements-models.txt and package-lock.json; nothing is
asked for and nothing is dated, so that the same lists make the same file. What only builds or checks is `excluded`.
"""

import base64
import json
import re
import sys
import uuid
from typing import Any
from urllib.parse import quote

import attnviz
from scripts.locked import EVERYTHING, MODELS, ROOT, TORCH, packages

NOTICES = sorted((ROOT / "attnviz").glob("*/bundle*/notices.txt"))


def component(kind: str, name: str, version: str, **more: Any) -> dict[str, Any]:
    address = f"pkg:{kind}/{quote(name, safe='/')}@{version}"
    return {"type": "library", "bom-ref": address, "name": name, "version": version, "purl": address, **more}


def of_python() -> list[dict[str, Any]]:
    """The locked packages; a package has many files, and its digests are told as theirs."""
    made = {}
    for path in (EVERYTHING, TORCH, MODELS):
        for entry in packages(path.read_text("utf-8")):
            name, version = re.match(r"([\w.-]+)==([\w.]+)", entry).groups()  # type: ignore[union-attr]
            hashes = [{"alg": "SHA-256", "content": each} for each in re.findall(r"sha256:(\w+)", entry)]
            files = [{"type": "distribution", "url": f"https://pypi.org/project/{name}/{version}/", "hashes": hashes}]
            made[name, version] = component("pypi", name, version, scope="required", externalReferences=files)
    return list(made.values())


def of_javascript() -> list[dict[str, Any]]:
    """The packages of package-lock.json; those in a bundle have a licence there."""
    bundled = {each for file in NOTICES for each in re.findall(r"^(\S+) [\d.]+ \(in ", file.read_text("utf-8"), re.M)}
    made = {}
    for path, each in json.loads((ROOT / "package-lock.json").read_text("utf-8"))["packages"].items():
        if not path:
            continue
        name = path.rpartition("node_modules/")[2]
        algorithm, _minus, digest = each["integrity"].partition("-")
        hashes = [{"alg": algorithm.replace("sha", "SHA-"), "content": base64.b64decode(digest).hex()}]
        scope = "required" if name in bundled else "excluded"
        licences = [{"expression": each["license"]}] if "license" in each else []
        made[name, each["version"]] = component(
            "npm", name, each["version"], scope=scope, hashes=hashes, licenses=licences
        )
    return list(made.values())


def bill() -> dict[str, Any]:
    """The whole bill of materials."""
    components = sorted([*of_python(), *of_javascript()], key=lambda each: each["purl"])
    number = uuid.uuid5(uuid.NAMESPACE_URL, json.dumps(components))
    own = component("pypi", "attnviz", attnviz.__version__, licenses=[{"expression": "Apache-2.0"}])
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "serialNumber": f"urn:uuid:{number}",
        "version": 1,
        "metadata": {"component": own | {"type": "application"}},
        "components": components,
    }


if __name__ == "__main__":
    json.dump(bill(), sys.stdout, indent=1)
    sys.stdout.write("\n")
