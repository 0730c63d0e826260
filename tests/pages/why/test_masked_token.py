"""A masked token is what all three sections ask about, of a small BERT of random weights."""

import pytest
import torch

from attnviz.analysis.model_run import ModelRun, Request, run_model
from attnviz.models.catalogue import LoadedModel
from attnviz.pages.why.maths import parts, two_prompts
from tests.models.tiny import bert
from tests.models.tiny_tokenizers import loaded, word_piece

TEXT, OTHER, AT = "the cat [MASK] the cat", "the sat [MASK] the cat", 3


@pytest.fixture(scope="module")
def masked() -> LoadedModel:
    tokenizer = word_piece()
    tokenizer.add_special_tokens({"mask_token": "[MASK]"})
    made: LoadedModel = loaded(tokenizer, "encoder", model=bert())
    return made


@pytest.fixture(scope="module")
def read(masked) -> ModelRun:
    return run_model(Request("tiny", TEXT), masked)


def lead(masked: LoadedModel, text: str, ids: parts.Ids) -> float:
    given = masked.tokenizer(text, return_tensors="pt")
    assert given["input_ids"][0, AT] == masked.tokenizer.mask_token_id
    with torch.no_grad():
        logits = masked.model(**given).logits[0, AT]
    return float(logits[ids[0]] - logits[ids[1]])


def test_every_section_watches_the_masked_token(masked, read):
    made = parts.run(read, masked, parts.TokenQuestion())
    assert made.masked == made.position == AT
    ids = tuple(each.id for each in made.targets)
    whole, other = (lead(masked, text, ids) for text in (TEXT, OTHER))
    assert abs(whole - other) > 0.01
    assert made.total == pytest.approx(whole, abs=1e-3)
    assert sum(part.value for part in made.by_size) == pytest.approx(whole, abs=1e-3)
    with torch.no_grad():
        shares = masked.model(**masked.tokenizer(TEXT, return_tensors="pt")).logits[0, AT].softmax(-1)
    assert made.lens[-1] == pytest.approx(shares[list(ids)].numpy(), abs=1e-5), "the lens ends with the model's answer"
    assert made.ranks[-1].tolist() == [int((shares > shares[id]).sum()) + 1 for id in ids]
    without = parts.run(read, masked, parts.TokenQuestion(), made.strongest)
    assert without.total != pytest.approx(whole, abs=1e-3)
    assert sum(part.value for part in without.by_size) == pytest.approx(without.total, abs=1e-3)
    *_, found = two_prompts.measure_circuit(read, masked, two_prompts.TwoPrompts(TEXT, OTHER, ids, made.masked), True)
    assert found.logit_diff == pytest.approx(whole, abs=1e-3)
    assert found.faithfulness[-1] == pytest.approx(1, abs=1e-4)
    *_, mapped = two_prompts.patch_prompts(masked, two_prompts.TwoPrompts(TEXT, OTHER, ids, made.masked))
    assert (mapped.after, mapped.before) == pytest.approx((whole, other), abs=1e-3)
    assert mapped.exact[0, 2] == pytest.approx(whole - other, abs=1e-3), "the one word that differs, put back"
