import subprocess

import pytest


@pytest.fixture
def children(monkeypatch):
    """The processes that were started."""
    started = []

    class Watched(subprocess.Popen):
        def __init__(self, *arguments, **keywords):
            super().__init__(*arguments, **keywords)
            started.append(self)

    monkeypatch.setattr(subprocess, "Popen", Watched)
    return started
