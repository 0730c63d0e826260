"""FLOPs and activations of a whole model while it reads a prompt: attention, and all that stands around it."""

from collections.abc import Iterator
from dataclasses import dataclass

from torch import nn

from attnviz.core.costs import activations
from attnviz.models.architecture.architecture import Architecture, has_heads
from attnviz.models.architecture.meta_device import attention_modules, build, experts_of


@dataclass(frozen=True)
class Part:
    """What one part of a model costs, over all its layers."""

    flops: int
    activations: int  #: numbers that its matrices write, all layers together; in attention scores and weights as well


def whole_pass(arch: Architecture, tokens: int, batch: int = 1) -> dict[str, Part]:
    """A pass over `batch` prompts without a cache, every pair computed, logits for every token.

    By part: "projections", "scores", "mlp", "embedding", "output". Empty for a model of two stacks, of pictures, with
    layers other than softmax attention, or without rules for its family. As in torch's FlopCounterMode, biases, norms
    and activation functions cost nothing, and an embedding is looked up. An encoder's pooler is left out.
    """
    alike = len({layer.stack for layer in arch.layers}) == 1 and all(map(has_heads, arch.layers))
    if arch.config is None or arch.measured or not alike:
        return {}
    model, rows = build(arch.config, "eager"), batch * tokens
    if any(p.dim() == 4 for p in model.parameters()):  # patches of pictures
        return {}
    head, attention = model.get_output_embeddings(), arch.prefill_flops(tokens)  # type: ignore[operator]
    kept = [activations(layer.layout, tokens, batch) for layer in arch.layers]
    squares = sum(layer.scores + layer.weights for layer in kept)
    mlp = list(_matrices(model, head))
    logits = 0 if head is None else head.weight.shape[0]
    return {
        "projections": Part(batch * attention.projections, sum(layer.total for layer in kept) - squares),
        "scores": Part(batch * (attention.scores + attention.values), squares),
        "mlp": Part(2 * rows * sum(entries for entries, _out in mlp), rows * sum(out for _entries, out in mlp)),
        "embedding": Part(0, rows * arch.layers[0].d_model),
        "output": Part(2 * rows * logits * arch.layers[0].d_model, rows * logits),
    }


def _matrices(model: nn.Module, head: nn.Module | None) -> Iterator[tuple[int, int]]:
    """Of each matrix around attention: entries that one token is multiplied with, and numbers that it gives."""
    inside = {id(p) for module in attention_modules(model) for p in module.parameters()}
    experts, chosen = experts_of(model)
    width = model.config.get_text_config().hidden_size  # type: ignore[operator, union-attr]
    for path, module in model.named_modules():
        if isinstance(module, nn.Embedding) or module is head or "pooler" in path:
            continue
        for name, p in module.named_parameters(recurse=False):
            if path.endswith("experts") and p.dim() == 3:
                each = p.numel() // experts
                yield chosen * each, chosen * (width if "down" in name else each // width)
            elif p.dim() == 2 and id(p) not in inside and not path.endswith("experts"):
                yield p.numel(), p.shape[type(module).__name__ == "Conv1D"]  # GPT-2's keeps (in, out)
