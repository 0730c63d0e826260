"""A model on one machine: whether it fits, its longest context, its speed, and the cost of a prompt."""

from bisect import bisect_left
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from torch import nn

from attnviz.base.message import Problem, require_whole
from attnviz.core.costs import DecodingStep, Machine, count_activations, decode_step
from attnviz.core.precision import stored_bytes
from attnviz.models.architecture.architecture import Architecture
from attnviz.models.architecture.layer_spec import Convention, PagedCache
from attnviz.models.architecture.meta_device import ParameterCounts, attention_modules, build, count_experts
from attnviz.models.architecture.ways import has_heads

FARTHEST = 1 << 30


@dataclass(frozen=True)
class Deployment:
    """How a model is served: context in tokens, batch, number formats, and the layout of the cache."""

    context: int = 8192
    batch: int = 1
    weight_dtype: str = "bfloat16"
    cache_dtype: str = "bfloat16"
    group: int = 64  #: numbers that share one scale in int8, int4 and int2
    convention: Convention = "ideal"
    hybrid: bool = True  #: only for a paged cache: whether layers with a window get a cache of their own size
    encoder_tokens: int = 0  #: tokens that the encoder has read, whatever the context

    def __post_init__(self) -> None:
        for name in ("context", "batch"):
            require_whole(name, getattr(self, name), 1, FARTHEST)


@dataclass(frozen=True)
class Size:
    """The results for one deployment. Bytes are exact; seconds are those of an ideal kernel."""

    weight_bytes: int
    cache_bytes: int  #: for the whole batch
    fits: bool
    longest_context: int  #: in tokens, at this batch; 0 when not even one token fits
    largest_batch: int  #: at this context
    step: DecodingStep  #: of a machine that had room for it
    bandwidth_limit: int | None  #: context in tokens from which no batch is compute-bound; None if there is none
    experts: tuple[float, int]  #: of each mixture, those that a step goes through on average, and all; 0 without one

    @property
    def tokens_per_second(self) -> float:
        """Tokens per second of one sequence."""
        return 1 / self.step.seconds


def size_deployment(arch: Architecture, counts: ParameterCounts, deployment: Deployment, machine: Machine) -> Size:
    """Size a model that stores all of `counts`; a decoding step reads and multiplies with less."""
    if not arch.decodes:
        raise Problem("{model} is an encoder: it decodes no tokens and keeps no cache", model=arch.name)
    weights = stored_bytes(counts.total, deployment.weight_dtype, deployment.group)
    room = machine.memory - weights

    def cache(tokens: int, batch: int = 1) -> int:
        return arch.kv_cache_bytes(
            tokens,
            batch,
            deployment.cache_dtype,
            deployment.convention,
            deployment.encoder_tokens,
            deployment.group,
            PagedCache(hybrid=deployment.hybrid),
        )

    bytes_per_sequence = cache(deployment.context)
    experts, chosen = (0, 0) if arch.config is None else count_experts(arch.config)
    missed = 1 - chosen / experts if experts else 0.0  # the share that one token does not go through, at random
    unread = (counts.read - counts.active) * missed ** (
        deployment.batch - 1
    )  # `active` leaves out what one token misses
    step = decode_step(
        machine,
        parameters=counts.active,
        weight_bytes=stored_bytes(counts.read - round(unread), deployment.weight_dtype, deployment.group),
        attention_flops=_attention(arch, deployment.context, deployment.encoder_tokens),
        cache_bytes=bytes_per_sequence,
        batch=deployment.batch,
    )
    return Size(
        weights,
        bytes_per_sequence * deployment.batch,
        bytes_per_sequence * deployment.batch <= room,
        _search_largest(lambda tokens: cache(tokens, deployment.batch) <= room),
        FARTHEST if room >= 0 and bytes_per_sequence == 0 else max(0, room // max(bytes_per_sequence, 1)),
        step,
        bandwidth_limit(arch, counts.active, machine, cache, deployment.encoder_tokens),
        (experts * (1 - missed**deployment.batch), experts),
    )


def bandwidth_limit(
    arch: Architecture, active: int, machine: Machine, cache: Callable[[int], int], encoder_tokens: int = 0
) -> int | None:
    """The shortest context in tokens at which reading one more sequence takes longer than computing it.

    `cache` gives the cache bytes of one sequence of so many tokens. None when there is no such context.
    """
    reach = _search_largest(
        lambda n: (2 * active + _attention(arch, n, encoder_tokens)) * machine.bandwidth > cache(n) * machine.peak
    )
    return None if reach >= FARTHEST else reach + 1


def _attention(arch: Architecture, context: int, encoder_tokens: int) -> int:
    """FLOPs of scores and values for one decoded token. The projections are counted with the parameters."""
    work = arch.decode_flops(context, encoder_tokens=encoder_tokens)
    return work.scores + work.values


def _search_largest(holds: Callable[[int], bool]) -> int:
    """The largest number up to FARTHEST for which `holds` is True, 0 if there is none.

    Searches by bisection, so `holds` must be True for all smaller numbers; where a cache grows by whole blocks it is
    so up to the size of a block.
    """
    return bisect_left(range(1, FARTHEST + 1), True, key=lambda number: not holds(number))


@dataclass(frozen=True)
class PassPart:
    """Cost of one component of a model, over all layers."""

    flops: int
    activations: int  #: numbers that its matrices write, all layers together; in attention scores and weights as well


def size_full_pass(arch: Architecture, tokens: int, batch: int = 1) -> dict[str, PassPart]:
    """A pass over `batch` prompts without a cache, every pair computed, logits for every token.

    By part: "projections", "scores", "mlp", "embedding", "output". Empty for a model of two stacks, of pictures, with
    layers other than softmax attention or that share their weights, or without rules for its family. As in torch's
    FlopCounterMode, biases, norms and activation functions cost nothing, and an embedding is looked up. An encoder's
    pooler is left out.
    """
    one_stack = len({layer.stack for layer in arch.layers}) == 1 and all(map(has_heads, arch.layers))
    if arch.config is None or arch.measured or not one_stack:
        return {}
    model, rows = build(arch.config, "eager"), batch * tokens
    attentions = list(attention_modules(model))
    cuts_patches = any(p.dim() == 4 for p in model.parameters())
    shares_weights = len(attentions) != len(arch.layers)  # layers that do are one module, which runs many times
    if cuts_patches or shares_weights:
        return {}
    head, attention = model.get_output_embeddings(), arch.prefill_flops(tokens)  # type: ignore[operator]
    activations = [count_activations(layer.layout, tokens, batch) for layer in arch.layers]
    squares, outputs = (
        sum(layer.scores + layer.weights for layer in activations),
        sum(layer.output for layer in activations),
    )
    projected = rows * sum(map(_outputs, attentions))
    mlp = list(_matrices(model, head))
    logits = 0 if head is None else head.weight.shape[0]
    return {
        "projections": PassPart(batch * attention.projections, projected + outputs),
        "scores": PassPart(batch * (attention.scores + attention.values), squares),
        "mlp": PassPart(2 * rows * sum(entries for entries, _out in mlp), rows * sum(out for _entries, out in mlp)),
        "embedding": PassPart(0, rows * arch.layers[0].d_model),
        "output": PassPart(2 * rows * logits * arch.layers[0].d_model, rows * logits),
    }


def _matrices(model: nn.Module, head: nn.Module | None) -> Iterator[tuple[int, int]]:
    """Of each matrix around attention: entries that one token is multiplied with, and numbers that it gives."""
    inside = {id(p) for module in attention_modules(model) for p in module.parameters()}
    experts, chosen = count_experts(model.config)
    width = model.config.get_text_config().hidden_size  # type: ignore[operator, union-attr]
    for path, module in model.named_modules():
        if isinstance(module, nn.Embedding) or module is head or "pooler" in path:
            continue
        for name, p in module.named_parameters(recurse=False):
            if path.endswith("experts") and p.dim() == 3:
                entries_per_expert = p.numel() // experts
                yield chosen * entries_per_expert, chosen * (width if "down" in name else entries_per_expert // width)
            elif p.dim() == 2 and id(p) not in inside and not path.endswith("experts"):
                yield p.numel(), _width(module, p)


def _outputs(attention: nn.Module) -> int:
    """Numbers that the matrices of one attention module, W_O among them, write for a token."""
    modules = (module for module in attention.modules() if not isinstance(module, nn.Embedding))
    return sum(_width(module, p) for module in modules for p in module.parameters(recurse=False) if p.dim() == 2)


def _width(module: nn.Module, matrix: nn.Parameter) -> int:
    """Numbers that a matrix gives; GPT-2's module keeps it as (in, out)."""
    return matrix.shape[type(module).__name__ == "Conv1D"]
