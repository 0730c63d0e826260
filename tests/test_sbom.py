"""What attnviz is made of, and whose it is: the bill of materials, and the licences that bundles carry."""

import re
from importlib import metadata

import pytest
from packaging.requirements import Requirement

from scripts import sbom
from scripts.locked import ROOT

BILL = sbom.bill()


def named(kind: str, scope: str) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for each in BILL["components"]:
        if each["purl"].startswith(f"pkg:{kind}/") and each["scope"] == scope:
            found.setdefault(each["name"], set()).add(each["version"])
    return found


def test_all_that_the_app_needs_is_in_the_bill():
    """Followed from attnviz's own requirements, through what is installed here in the locked version."""
    have, seen, left = named("pypi", "required"), set(), [("attnviz", "app")]
    while left:
        seen.add(at := left.pop())
        name, extra = at
        for asked in map(Requirement, metadata.requires(name) or ()):
            if asked.marker is not None and not asked.marker.evaluate({"extra": extra}):
                continue
            wanted = re.sub(r"[-_.]+", "-", asked.name).lower()
            assert wanted in have or wanted == "attnviz", f"{name} asks for {wanted}"
            if wanted == "attnviz" or metadata.version(wanted).partition("+")[0] in have[wanted]:
                left += [(wanted, each) for each in ("", *asked.extras) if (wanted, each) not in seen]
    assert len(seen) > 30


@pytest.mark.parametrize("folder", ["canvas", "site/page", "site/engine"])
def test_every_package_of_others_in_a_bundle_carries_its_licence(folder):
    scripts = [*(ROOT / "attnviz" / folder).rglob("*.js"), *(ROOT / "attnviz" / folder).rglob("*.mjs")]
    outside = [each for each in scripts if "bundles" not in each.parts]
    imports = {n for file in outside for n in re.findall(r'from "((?:@[\w-]+/)?[\w-]+)"', file.read_text("utf-8"))}
    notices = "".join(file.read_text("utf-8") for file in sbom.NOTICES)
    for name in imports:
        assert re.search(rf"^{name} [\d.]+ \(in \w+\.js", notices, re.M), name
        assert name in named("npm", "required")
    assert "Apache License" in notices
    assert "Copyright (c)" in notices
