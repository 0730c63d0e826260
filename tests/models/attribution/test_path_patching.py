"""Path patching against torch's own hooks: four passes with every head's output put there by hand."""

from itertools import product
from typing import Any

import pytest
import torch
from torch import Tensor

from attnviz.models.attribution.patching import Site
from attnviz.models.attribution.path_patching import Receiver, path_patching
from tests.models.attribution.test_patching import (
    METRIC,
    MODELS,
    T5_LAYERS,
    heads_of,
    lead,
    prompts,
)
from tests.models.capture.leaves import values_of
from tests.models.tiny import changed

LAYERS, HEADS = 3, 6
#: what projects q, k and v, and the last of each MLP that sees no residual stream
PARTS = {
    "llama": ("model.layers.{}.self_attn.{}_proj", "model.layers.{}.mlp"),
    "llama in groups": ("model.layers.{}.self_attn.{}_proj", "model.layers.{}.mlp"),
    "gemma2": ("model.layers.{}.self_attn.{}_proj", "model.layers.{}.mlp"),
    "bert": ("bert.encoder.layer.{}.attention.self.{}", "bert.encoder.layer.{}.intermediate"),
}
OF_BERT = {"q": "query", "k": "key", "v": "value"}


class Brute:
    """The passes of one model by hooks on its modules."""

    def __init__(self, name: str) -> None:
        build, projection, _ = MODELS[name.removesuffix(" in groups")]
        shared = {} if name in ("bert", "t5", "llama in groups") else {"num_key_value_heads": HEADS}
        self.name, self.model, self.prompts = name, build(**shared), prompts(name)
        self.group = 3 if name == "llama in groups" else 1  #: query heads that share a key
        if name == "t5":
            self.places = T5_LAYERS
            self.mlps = []
        else:
            self.places = [projection.format(layer) for layer in range(LAYERS)]
            self.mlps = [PARTS[name][1].format(layer) for layer in range(LAYERS)]

    def inputs(self, given: Any) -> dict[str, Tensor]:
        """What each output projection is given, (1, T, H*Dv), and what each MLP answers."""
        heads, mlps = ({name: name for name in names} for names in (self.places, self.mlps))
        return values_of(self.model, heads, mlps, lambda: lead(self.model, given))

    def effect(self, sender: Site, ends: list[Receiver], mlps: str) -> float:
        clean, corrupted = (self.inputs(given) for given in self.prompts)
        width = clean[self.places[0]].shape[-1] // heads_of(self.model)
        mine = slice(sender.head * width, (sender.head + 1) * width)
        rows = slice(None) if sender.position is None else sender.position

        def freeze(name: str, given: Tensor) -> Tensor:
            put = clean[name].clone()
            if name == self.places[sender.layer]:
                put[0, rows, mine] = corrupted[name][0, rows, mine]
            return put

        arrived: dict[str, Tensor] = {}
        names = {self.projection(end) for end in ends}

        def keep_or_freeze(name: str, answer: Tensor) -> Tensor:
            return arrived.setdefault(name, answer) if name in names else clean[name]

        def receive(name: str, answer: Tensor) -> Tensor:
            for end in (end for end in ends if self.projection(end) == name):
                key = end.head if end.through == "q" else end.head // self.group
                part = slice(key * width, (key + 1) * width)
                answer[..., part] = arrived[name][..., part]
            return answer

        frozen = self.mlps if mlps == "frozen" else []
        with (
            changed(self.model, [*names, *frozen], keep_or_freeze, answers=True),
            changed(self.model, self.places, freeze),
        ):
            direct = lead(self.model, self.prompts[0])
        with torch.no_grad():
            before = lead(self.model, self.prompts[0])
        with changed(self.model, names, receive, answers=True):
            return (lead(self.model, self.prompts[0]) if ends else direct) - before

    def projection(self, end: Receiver) -> str:
        if self.name == "t5":
            return f"{T5_LAYERS[end.layer].removesuffix('.o')}.{end.through}"
        return PARTS[self.name][0].format(end.layer, OF_BERT[end.through] if self.name == "bert" else end.through)


@pytest.mark.parametrize("name, mlps", [*product(PARTS, ["recomputed", "frozen"]), ("t5", "recomputed")])
def test_every_path_is_that_of_hooks(name: str, mlps: Any) -> None:
    """In an encoder-decoder also from the encoder to keys and values of cross attention."""
    brute = Brute(name)
    last = LAYERS - 1
    senders = [Site(0, 1), Site(0, 3, 4), Site(last - 1, 0)]
    paths: list[tuple[list[Site], list[Receiver]]] = [
        (senders, [Receiver(last, 2, "v"), Receiver(last, 1, "k")]),
        (senders, [Receiver(last, 3, "q")]),
        (senders, []),
    ]
    if name == "llama in groups":  # all heads of a group together are what a hook on their one key does
        paths = [([Site(0, 1)], [Receiver(last, head, "k") for head in range(3)]), (senders, [])]
    if name == "t5":
        paths = [([Site(1, 2)], [Receiver(3, 1, "k")]), ([Site(1, 2)], [Receiver(5, 0, "v")])]
        paths += [([Site(3, 1)], [Receiver(4, 2, "q")]), ([Site(3, 1)], [])]
    for senders, receivers in paths:
        found = path_patching(brute.model, *brute.prompts, METRIC, senders, receivers or "logits", mlps=mlps, at_once=2)
        values = [value for _, value in found]
        expected = [brute.effect(sender, receivers, mlps) for sender in senders]
        assert values == pytest.approx(expected, abs=3e-5)
        assert max(map(abs, expected)) > 1e-3
