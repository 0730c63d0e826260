"""The name of this machine's processor, from Linux's own table where there is one."""

import platform

import pytest

from attnviz.core import costs


@pytest.mark.parametrize(
    "told, name",
    [
        ("processor\t: 0\nmodel name\t: Some CPU: 2.4 GHz\nmodel name\t: Another\n", "Some CPU: 2.4 GHz"),
        ("processor\t: 0\nBogoMIPS\t: 50\n", "arm64-here"),
        (None, "arm64-here"),
    ],
    ids=["named", "not named", "no table"],
)
def test_it_is_the_first_named_and_the_architecture_where_none_is(monkeypatch, tmp_path, told, name):
    table = tmp_path / "cpuinfo"
    if told is not None:
        table.write_text(told)
    monkeypatch.setattr(costs, "ABOUT", table)
    monkeypatch.setattr(platform, "processor", lambda: "")
    monkeypatch.setattr(platform, "machine", lambda: "arm64-here")
    assert costs.processor_name() == name
