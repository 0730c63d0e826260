"""Models of pictures and words, tiny and random: which words look at which patches, against the eager path."""

import pytest
import torch
from torch.testing import assert_close
from transformers import (
    CLIPVisionConfig,
    GemmaConfig,
    LlamaConfig,
    LlavaConfig,
    LlavaForConditionalGeneration,
    PaliGemmaConfig,
    PaliGemmaForConditionalGeneration,
    Qwen2VLConfig,
    Qwen2VLForConditionalGeneration,
    SiglipVisionConfig,
)

from attnviz.pages.pictures.maths.picture_record import HeadChange
from attnviz.pages.pictures.maths.picture_run import rerun, run_picture
from tests.models.tiny import eager
from tests.models.tiny_tokenizers import byte_level, loaded
from tests.pages.pictures.test_compared_run import picture

TEXT = {
    "hidden_size": 32,
    "intermediate_size": 32,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "vocab_size": 330,
    "initializer_range": 0.4,
}
EYES = {"hidden_size": 24, "intermediate_size": 24, "num_hidden_layers": 2, "num_attention_heads": 3}
PIXELS = {"image_size": 32, "patch_size": 8}
IMAGE = 325  # a token that no text has


def llava(**more):
    eyes, text = CLIPVisionConfig(**EYES | PIXELS), LlamaConfig(**TEXT)
    more |= {"vision_feature_layer": -1}
    config = LlavaConfig(vision_config=eyes, text_config=text, image_token_index=IMAGE, **more)
    return LlavaForConditionalGeneration(config)


def paligemma():
    eyes = SiglipVisionConfig(**EYES | PIXELS, projection_dim=32, vision_use_head=False)
    text = GemmaConfig(**TEXT, head_dim=8)
    sizes = {"projection_dim": 32, "hidden_size": 32, "vocab_size": 330}
    config = PaliGemmaConfig(vision_config=eyes, text_config=text, image_token_index=IMAGE, **sizes)
    return PaliGemmaForConditionalGeneration(config)


def qwen2_vl():
    rope = {"rope_type": "default", "mrope_section": [1, 1, 2], "rope_theta": 1e4}
    special = {"image_token_id": IMAGE, "vision_start_token_id": 326, "vision_end_token_id": 327, "video_token_id": 328}
    eyes = {"depth": 2, "embed_dim": 24, "hidden_size": 32, "num_heads": 3, "mlp_ratio": 2, "patch_size": 4}
    ends = {"bos_token_id": None, "eos_token_id": None}
    config = Qwen2VLConfig(text_config=TEXT | ends | {"rope_parameters": rope}, vision_config=eyes, **special, **ends)
    return Qwen2VLForConditionalGeneration(config)


#: rows and columns of the picture's tokens, and whether its tower can be drawn as well
FAMILIES = {
    "llava": (llava, (4, 4), True),
    "paligemma": (paligemma, (4, 4), True),
    "qwen2_vl": (qwen2_vl, (4, 5), False),
}


def tiny(name):
    torch.manual_seed(0)
    return loaded(byte_level(), model=FAMILIES[name][0]().eval())


@pytest.fixture(scope="module", params=FAMILIES)
def asked(request):
    model = tiny(request.param)
    return request.param, model, run_picture(model, picture(), "where is the cat")


def whole_of(run):
    ids = torch.cat([run.inputs["input_ids"], run.written], 1)
    more = {"input_ids": ids, "attention_mask": torch.ones_like(ids)}
    for name, value in (("mm_token_type_ids", 0), ("token_type_ids", 1)):  # PaliGemma: 1 looks back only
        if name in run.inputs:
            kind = torch.full_like(run.written, value).to(run.inputs[name].dtype)
            more[name] = torch.cat([run.inputs[name], kind], 1)
    return run.inputs | more


def test_the_picture_s_tokens_are_its_patches_and_the_rest_are_words(asked):
    name, _asks, run = asked
    stack = run.stack("words")
    assert (stack.grid.rows, stack.grid.columns) == FAMILIES[name][1]
    ids = whole_of(run)["input_ids"][0]
    assert int((ids == IMAGE).sum()) == stack.grid.patches
    assert stack.grid.first == len(ids) - stack.grid.patches
    assert not stack.grid.has_class
    assert "".join(stack.query_tokens).replace("␣", "").startswith(("<|end|>where", "⏎where", "<|vision_end|>where"))
    assert [each.id for each in run.stacks] == ["words", "picture"][: 1 + FAMILIES[name][2]]


def test_the_words_weights_on_patches_are_those_of_the_eager_path(asked):
    _name, asks, run = asked
    stack, ids = run.stack("words"), whole_of(run)["input_ids"][0]
    places = (ids == IMAGE).nonzero()[:, 0]
    after = torch.arange(int(places.max()) + 1, len(ids))
    found = eager(asks.model, **whole_of(run)).attentions
    assert len(found) == len(stack.layers) == 2
    for layer, weights in zip(stack.layers, found, strict=True):
        assert layer.exact
        shown = layer.weights()
        assert_close(shown[..., stack.grid.first :], weights[:, :, after][..., places], atol=1e-5, rtol=0)
        assert_close(shown.sum(-1), torch.ones_like(shown.sum(-1)), atol=1e-5, rtol=0)


@torch.no_grad()
def test_what_it_writes_is_the_likeliest_token_each_time(asked):
    _name, asks, run = asked
    whole = whole_of(run)
    before = run.inputs["input_ids"].shape[1]
    logits = asks.model(**whole).logits[0]
    logits[:, IMAGE] = -torch.inf  # no answer holds a picture
    assert logits[before - 1 : -1].argmax(-1).tolist() == run.written[0].tolist()
    shares = logits.float().softmax(-1).max(-1).values[before - 1 : -1]
    assert run.answer.shares == pytest.approx(shares.tolist(), abs=1e-4)


def test_hidden_patches_are_seen_in_no_layer_and_the_order_of_words_stays(asked):
    _name, asks, run = asked
    _answer, trace = rerun(asks, run, HeadChange(hidden=(0, 5, 6)))
    places = (run.inputs["input_ids"][0] == IMAGE).nonzero()[:, 0][[0, 5, 6]]
    words = [layer for layer in trace.layers if "language_model" in layer.tower]
    for layer in words:
        weights = layer.weights()
        assert float(weights[..., places].max()) == 0
        own = next(each for each in run.trace.layers if each.place == layer.place).weights()
        rows = min(weights.shape[2], own.shape[2], run.inputs["input_ids"].shape[1])
        hidden = own[:, :, :rows, :rows] == 0  # what no word saw, none sees now: no word looks ahead
        assert not weights[:, :, :rows, :rows][hidden].any()
    tower = [layer for layer in trace.layers if "language_model" not in layer.tower]
    assert len(words) == len(tower) == 2
    assert all((layer.weights() == 0).any() for layer in tower)
