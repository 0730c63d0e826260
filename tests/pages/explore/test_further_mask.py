"""A further mask is an entry and its function: all that the explorer does with a mask follows from them."""

import subprocess
import sys
import textwrap

import pytest

PLANTED = textwrap.dedent("""
    import torch

    from attnviz.base import head_edit
    from attnviz.base.record_json import to_json
    from attnviz.runs import what_if

    head_edit.MASKS["itself"] = ("only itself", "every token looks at itself alone")
    what_if.PATTERNS["itself"] = what_if.MaskPattern(
        lambda edit, n_q, n_k: torch.eye(n_q, n_k, dtype=torch.bool), "torch.eye(n, dtype=torch.bool)"
    )

    from types import SimpleNamespace

    from attnviz.app import head_drawing
    from attnviz.base.head_edit import HeadEdit
    from attnviz.base.head_record import HeadData, HeadGrid
    from attnviz.live import LiveView, canvas_wording, page
    from attnviz.pages.explore import choices
    from attnviz.pages.explore.panels import programs
    from attnviz.pages.home import choices as home_choices
    from attnviz.pages.home import maths

    edit = HeadEdit(choices.MASK.read("itself"))
    assert home_choices.MASK.read("itself") == "itself"
    assert canvas_wording.edit()["maskitself"] == "only itself"
    assert head_drawing.words_of(edit, ("a", "b"), 0.125, 64)[0] == "every token looks at itself alone"
    assert head_edit.read_edit(to_json(edit)) == edit
    assert (maths.run(maths.Config("one two three", edit)).values == torch.eye(3).numpy()).all()
    assert programs._mask(SimpleNamespace(), edit)[-1] == "    return torch.eye(n, dtype=torch.bool)"
    scores, mask = torch.zeros(2, 2).numpy(), torch.ones(2, 2, dtype=torch.bool).numpy()
    data = HeadData(scores, mask, tokens_q=["a", "b"])
    assert '"mask":"itself"' in page(LiveView([data], HeadGrid.of([1]), edit=edit))
""")


@pytest.mark.slow  # what a commit may break of it, an import or a name, the tests of each part see
def test_a_mask_goes_from_its_entry_to_the_link_the_words_the_browser_the_numbers_and_the_program():
    """In a process of its own: choices are declared as their module is imported."""
    ran = subprocess.run([sys.executable, "-c", PLANTED], capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
