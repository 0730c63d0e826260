"""The lower bounds of pyproject.toml are true: with exactly those versions the library and the app do their work."""

import csv
from importlib.metadata import distributions
from pathlib import Path

import pytest

from tests.wheel import environments
from tests.wheel.conftest import Installed
from tests.wheel.test_app_alone import TEXT
from tests.wheel.test_core_alone import PROGRAM

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(environments.uv() is None, reason="uv, which finds the lowest versions, is not installed"),
]


#: a folder with a small random model, made by the environment's own transformers
MAKE_TINY = """
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast
words = {word: place for place, word in enumerate(["<unk>", *"the cat sat on a mat and ran off".split()])}
inner = Tokenizer(models.WordLevel(words, "<unk>")); inner.pre_tokenizer = pre_tokenizers.Whitespace()
PreTrainedTokenizerFast(tokenizer_object=inner, unk_token="<unk>").save_pretrained("tiny")
shape = dict(hidden_size=16, intermediate_size=16, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2)
LlamaForCausalLM(LlamaConfig(vocab_size=len(words), **shape)).save_pretrained("tiny")
"""


@pytest.fixture(scope="module")
def lowest(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Installed:
    folder = tmp_path_factory.mktemp("lowest")
    away = folder / "away"
    away.mkdir()
    return Installed(environments.lowest(folder / "venv", wheel, "app"), away)


def test_every_package_has_the_version_of_its_lower_bound(wheel: Path, lowest: Installed) -> None:
    """Those that do not are told to be raised: a bound that nothing can have has never been tried."""
    (packages,) = (lowest.python.parents[1] / "lib").glob("python*/site-packages")
    have = {
        each.metadata["Name"].lower().replace("-", "_"): each.version for each in distributions(path=[str(packages)])
    }
    for asked in environments.asked_for(wheel, "app"):
        if asked.name == environments.AS_HERE:
            continue
        (bound,) = (each.version for each in asked.specifier if each.operator == ">=")
        version = have[asked.name.lower().replace("-", "_")]
        assert version == bound or version.startswith(f"{bound}."), f"{asked} is met by {version} at the lowest"


def test_attend_capture_and_show(lowest: Installed) -> None:
    done = lowest.run(lowest.python, "-c", PROGRAM)
    assert done.returncode == 0, done.stderr


def test_figures_of_a_page_and_of_a_head_and_costs_of_heads(lowest: Installed) -> None:
    made = lowest.run(lowest.python, "-c", MAKE_TINY)
    assert made.returncode == 0, made.stderr
    (lowest.away / "text.txt").write_text(TEXT)
    out = [lowest.away / f"head.{kind}" for kind in ("svg", "png", "html", "csv")]
    done = lowest.commands(
        ["figure", "/?scaled=false", *(part for file in out for part in ("-o", str(file)))],
        ["figure", "sharing", "-o", "sharing.csv"],
        ["heads", "./tiny", "text.txt", "--cost", "-o", "heads.csv"],
    )
    assert [each.returncode for each in done] == [0, 0, 0], done
    assert out[1].read_bytes().startswith(b"\x89PNG")
    rows = [len(list(csv.DictReader((lowest.away / f"{name}.csv").open()))) for name in ("head", "sharing", "heads")]
    assert rows[0] == 13, "one for each word of Start"
    assert rows[1] == 6, "32 query heads on 1, 2, 4 to 32 K/V heads"
    assert rows[2] >= 2 * 4 * 2
