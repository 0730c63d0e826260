"""Names under which the maths could be imported before each page had a folder still work, and say where it is now."""

import importlib

import pytest


@pytest.mark.parametrize(
    "old, new",
    [
        ("scaling.variance", "attnviz.pages.scaling.maths.variance"),
        ("building.attention_by_hand", "attnviz.pages.build.maths.attention_by_hand"),
        ("explorer.model_run", "attnviz.runs.model_run"),
        ("heads.scan", "attnviz.runs.heads.scan"),
        ("word_vectors", "attnviz.runs.word_vectors"),
        ("masks.traps.fill", "attnviz.pages.masks.maths.traps.fills"),
        ("masks.traps.trap", "attnviz.runs.traps"),
        ("sharing.live_layers", "attnviz.pages.sharing.maths"),
        ("sharing.downstream", "attnviz.runs.head_sharing"),
    ],
)
def test_a_module_under_its_old_name_is_the_module(old: str, new: str) -> None:
    with pytest.warns(DeprecationWarning, match=f"attnviz.experiments.{old} is now {new}"):
        found = importlib.import_module(f"attnviz.experiments.{old}")
    assert found is importlib.import_module(new)


def test_what_an_old_package_exported_is_found_by_its_name() -> None:
    """As in programs that the pages of pictures and of the explorer showed."""
    with pytest.warns(DeprecationWarning, match="attnviz.experiments.pictures.run_picture is now in attnviz.pages"):
        from attnviz.experiments.pictures import HeadChange, run_picture  # type: ignore[import-not-found]
    with pytest.warns(DeprecationWarning, match=r"attnviz.experiments.explorer.run_model is now in attnviz.runs"):
        from attnviz.experiments.explorer import run_model  # type: ignore[import-not-found]
    with pytest.warns(DeprecationWarning, match=r"explorer.WhatIf is now attnviz.base.head_edit.HeadEdit"):
        from attnviz.experiments.explorer import WhatIf  # type: ignore[import-not-found]
    assert WhatIf("causal").mask == "causal"
    assert {each.__module__ for each in (HeadChange, run_picture, run_model)} == {
        "attnviz.pages.pictures.maths.picture_record",
        "attnviz.pages.pictures.maths.picture_run",
        "attnviz.runs.model_run",
    }


@pytest.mark.parametrize("name", ["attnviz.experiments.nowhere", "attnviz.experiments.scaling.nothing"])
def test_what_never_was_is_not_found(name: str) -> None:
    with pytest.raises(ModuleNotFoundError):
        importlib.import_module(name)
