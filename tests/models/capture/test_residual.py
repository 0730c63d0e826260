"""The residual stream and what each head adds to a logit, against hooks on the model's own modules."""

from typing import Any

import pytest
import torch
from torch import nn
from torch.testing import assert_close
from transformers import (
    BertForSequenceClassification,
    DistilBertForSequenceClassification,
    LlamaForSequenceClassification,
    RobertaForSequenceClassification,
    ViTForImageClassification,
)

from attnviz.base.message import Problem
from attnviz.models.attribution.patching import Site, activation_patching, attribution_patching
from attnviz.models.capture import Edit, intervene, logit_diff
from attnviz.models.capture.run import capture
from tests.models.capture.plain_models import Own
from tests.models.tiny import VOCAB, given_to, llama, t5, tokens


def test_the_stream_and_the_heads_outputs_are_what_the_model_itself_reports():
    model, seen = llama(num_hidden_layers=3), {}
    hook = model.model.layers[1].self_attn.o_proj.register_forward_hook(
        lambda module, given, answer: seen.update(given=given[0].detach(), answer=answer.detach())
    )
    trace = capture(model, input_ids=tokens(), residual=True)
    hook.remove()
    assert_close(trace[1].head_outputs().transpose(1, 2).flatten(2), seen["given"], rtol=1e-4, atol=1e-5)
    assert_close(trace[1].head_outputs(projected=True).sum(1), seen["answer"], rtol=1e-4, atol=1e-4)
    assert_close(trace[1].head_outputs([4, 1]), trace[1].head_outputs()[:, [4, 1]])
    with torch.no_grad():
        theirs = model(input_ids=tokens(), output_hidden_states=True).hidden_states
    assert len(trace.residual) == 4
    for mine, given in zip(trace.residual, theirs[:-1], strict=False):  # theirs ends after the norm
        assert_close(mine, given)
    assert_close(model.model.norm(trace.residual[-1]), theirs[-1])


SIZES = {"hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 2, "num_attention_heads": 4, "num_labels": 3}
#: a model of classes, and its second block's last linear layer
CLASSIFIERS = {
    BertForSequenceClassification: "bert.encoder.layer.1.output.dense",
    RobertaForSequenceClassification: "roberta.encoder.layer.1.output.dense",
    DistilBertForSequenceClassification: "distilbert.transformer.layer.1.ffn.lin2",
    ViTForImageClassification: "vit.layers.1.mlp.fc2",
    LlamaForSequenceClassification: "model.layers.1.mlp.down_proj",
}


def classifier(kind):
    torch.manual_seed(0)
    sizes = SIZES | {"initializer_range": 0.3}
    if kind is DistilBertForSequenceClassification:
        sizes |= {"dim": 32, "hidden_dim": 48, "n_layers": 2, "n_heads": 4}
    if kind is ViTForImageClassification:
        return kind(kind.config_class(**sizes, image_size=16, patch_size=4)).eval()
    return kind(kind.config_class(**sizes, vocab_size=VOCAB, pad_token_id=0)).eval()


@pytest.mark.parametrize("kind", CLASSIFIERS)
def test_the_logit_of_a_class_is_taken_apart_and_patched(kind):
    model, generator = classifier(kind), torch.Generator().manual_seed(3)
    if kind is ViTForImageClassification:
        one, two = ({"pixel_values": torch.randn(2, 3, 16, 16, generator=generator)} for _ in range(2))
    else:
        one, two = ({"input_ids": tokens(seed=seed)} for seed in (1, 5))
    with torch.no_grad():
        logits, before = model(**one).logits, model(**two).logits
    trace = capture(model, **one, residual=True)
    found = trace.logit_attribution(logit_diff(1, 2))
    assert_close(found.logit, logits[:, 1] - logits[:, 2], rtol=1e-4, atol=1e-5)
    assert_close(found.total, found.logit, rtol=1e-4, atol=1e-4)
    assert_close(found.sources(1, 2).sum(1), found.heads[:, 1, 2], rtol=1e-3, atol=1e-5)
    assert_close(trace.logit_lens([0, 2]).logits[:, -1], logits[:, [0, 2]], rtol=1e-4, atol=1e-4)
    place, seen = CLASSIFIERS[kind], []
    with given_to(model, place, lambda given: seen.append(given) or given):
        model(**one)
    with given_to(model, place, lambda given: seen[0]):
        after = model(**two).logits
    ((_, effect),) = activation_patching(model, one, two, logit_diff(1, 2), [Site(1, "mlp")])
    assert_close(effect.by_prompt, (after - before)[:, 1] - (after - before)[:, 2], rtol=1e-3, atol=1e-4)
    assert attribution_patching(model, one, two, logit_diff(1, 2)).after == pytest.approx(float(found.logit.mean()))


class Named(nn.Module):
    """A model whose output layer has a name of its own, and whose logits are a hundredth of what it answers."""

    def __init__(self):
        super().__init__()
        inner: Any = Own()
        inner.to_words, inner.lm_head = inner.lm_head, nn.Identity()
        self.inner, self.factor = inner, 0.01

    def forward(self, idx):
        return self.inner.to_words(self.inner(idx)) * self.factor


class Half(Own):
    """A model whose output layer reads half of what its last norm answers."""

    def forward(self, idx):
        x = self.wte(idx)
        for block in self.h:
            x = block(x)
        return self.lm_head(self.ln_f(x)[..., :12])


def test_an_output_layer_of_another_name_is_found_or_named():
    half = Half().eval()
    half.lm_head = nn.Linear(12, VOCAB)
    with pytest.raises(Problem, match="not as wide as the input of its output layer"):
        capture(half, tokens(), residual=True).logit_attribution(7)
    model = Named().eval()
    logits = model(tokens())[:, -1].detach()
    with pytest.raises(Problem, match="name one, as output_layer"):
        capture(model, tokens(), residual=True).logit_attribution(7)
    with pytest.raises(Problem, match=r"did you mean inner\.to_words\?"):
        capture(model, tokens(), residual=True, output_layer="inner.to_word").logit_attribution(7)
    named = capture(model, tokens(), residual=True, output_layer="inner.to_words").logit_attribution(7)
    assert_close(named.total, logits[:, 7], rtol=1e-4, atol=1e-5)
    model.factor = 1.0
    assert_close(capture(model, tokens(), residual=True).logit_attribution(7).total, 100 * named.total)


def test_an_encoder_decoder_has_both_streams_and_a_lens():
    model, ids = t5(), {"input_ids": tokens(), "decoder_input_ids": tokens(2, 5, seed=4)}
    trace = capture(model, **ids, residual=True)
    with torch.no_grad():
        theirs = model(**ids, output_hidden_states=True)
    for mine, given in (
        (trace.residual, theirs.decoder_hidden_states),
        (trace.residual.encoder, theirs.encoder_hidden_states),
    ):
        for stream, states in zip(mine, given[:-1], strict=False):  # theirs end after the norm
            assert_close(stream, states)
    assert_close(trace.logit_lens([7, 9]).logits[:, -1], theirs.logits[:, -1, [7, 9]], rtol=1e-4, atol=1e-5)
    assert_close(trace.logit_attribution(7).total, theirs.logits[:, -1, 7], rtol=1e-4, atol=1e-4)
    other = {"input_ids": tokens(seed=8), "decoder_input_ids": ids["decoder_input_ids"]}
    patched = intervene(model, Edit(0, stream=trace, tower="encoder"), **other)
    assert_close(patched.logits, trace.logits)
