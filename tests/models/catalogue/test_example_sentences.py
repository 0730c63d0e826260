import pytest

from attnviz.models.capture.run import capture
from attnviz.models.loading import EXAMPLES
from attnviz.models.tokens.encoding import encode

EXAMPLE = {each.id: each for each in EXAMPLES}


def looked(loaded, name):
    """The tokens of an example, and the attention weights (Q, K) of the head that it names."""
    this = EXAMPLE[name]
    tokens = encode(loaded, this.text, this.second or None)
    layer, head = this.head
    trace = capture(loaded.model, **tokens.inputs)
    return tokens, trace.layers[layer].weights(heads=head)[0, 0], trace


@pytest.mark.parametrize(
    "model, name, query, key, share",
    [
        ("smollm2", "pronoun", "it", "animal", 0.7),
        ("smollm2", "brackets", ")", "(", 0.85),
        ("smollm2", "brackets", "]", "[", 0.85),
        ("smollm2", "brackets", "}", "{", 0.85),
        ("smollm2", "agreement", "are", "keys", 0.6),
        ("smollm2", "garden-path", "boats", "man", 0.3),
        ("smollm2", "code", "return", "total", 0.55),
        ("minilm", "pair", "music", "guitar", 0.75),
        ("minilm", "bank", "bank", "river", 0.6),
    ],
)
def test_the_head_an_example_names_does_what_it_says(request, model, name, query, key, share):
    tokens, weights, _ = looked(request.getfixturevalue(model), name)
    assert weights[tokens.labels.index(query), tokens.labels.index(key)] > share


def test_the_induction_head_looks_at_what_came_next_the_first_time(smollm2):
    _, weights, _ = looked(smollm2, "repeat")
    half = len(weights) // 2
    next_time = weights[range(half, 2 * half - 1), range(1, half)]
    assert next_time[1:].min() > 0.6


def test_the_sink_takes_nearly_all_and_the_previous_token_head_looks_one_back(smollm2):
    _, sink, _ = looked(smollm2, "sink")
    assert sink[1:, 0].min() > 0.95
    _, previous, _ = looked(smollm2, "previous")
    assert previous.diagonal(-1)[1:].mean() > 0.8


def test_the_last_token_looks_at_mary_and_the_model_predicts_mary(smollm2):
    tokens, weights, trace = looked(smollm2, "names")
    assert weights[-1, tokens.labels.index("Mary")] > 0.75
    assert smollm2.tokenizer.decode(trace.logits[0].argmax()) == " Mary"
