"""Heads of a long text as a pyramid, an overview and tiles made from q and k; and what answers to questions read.

A cell of a picture is the largest weight of its block: attention is sparse, and a mean would hide what matters.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from attnviz.analysis.model_run import ModelRun
from attnviz.base.message import Problem
from attnviz.base.packed import pack_blob
from attnviz.models.capture import RecordedLayer
from attnviz.models.capture.all_heads import block_edges
from attnviz.models.capture.bands import CELLS, Band, band_vectors, compute_band, is_plain_causal
from attnviz.models.capture.cached_pass import cache_of, pass_with_cache
from attnviz.models.capture.head_selection import to_float32
from attnviz.models.catalogue import LoadedModel
from attnviz.models.tokens.units import Unit, spell_tokens, split_units

TILE = 256  #: cells a side of a tile
OVERVIEW = 512  #: cells a side of an overview, at most
THUMBNAIL = 32
DECADES = 5  #: of the scale of the pictures: from 0.00001 to 1


@dataclass(frozen=True, eq=False)
class HeadOverview:
    """A whole head, made small."""

    step: int  #: tokens a side of a cell
    codes: NDArray[np.uint8]  #: (rows, columns), `log_codes` of the largest weight of each cell
    lse: NDArray[np.float32]  #: (Q,) log of the sum of exp(scaled score) of each row; empty where weights need more

    def pack(self, layer: RecordedLayer) -> bytes:
        """Pack it for the browser, with what the browser needs to compute the head's weights."""
        rows, columns = self.codes.shape
        width = layer.qkv[0].shape[-1] if layer.exact else 0
        header = {"step": self.step, "rows": rows, "columns": columns, "tokens": layer.shape[2]}
        header |= {"width": width, "scale": layer.scale, "plain": is_plain_causal(layer)}
        return pack_blob(header, self.codes.tobytes() + self.lse.astype("<f4").tobytes())


def log_codes(weights: Tensor) -> NDArray[np.uint8]:
    """Weights as codes from 1 to 255, in even steps of their logarithm from 0.00001 to 1; below 0 is masked: 0."""
    steps = 1 + (254 * (1 + weights.clamp(1e-9, 1).log10() / DECADES).clamp(0, 1)).round()
    return torch.where(weights < 0, 0, steps).to(torch.uint8).cpu().numpy()


def overview_step(tokens: int) -> int:
    """The smallest power of two by which the tokens must be divided to fit into an overview."""
    return 1 << max(0, -(-tokens // OVERVIEW) - 1).bit_length()


def make_overview(layer: RecordedLayer, head: int) -> HeadOverview:
    """Compute a head's overview and the log-sum-exp of its rows, a band of rows at a time."""
    _, _, q_len, k_len = layer.shape
    step = overview_step(max(q_len, k_len))
    rows = max(1, CELLS // k_len // step) * step
    bands, sums = [], []
    for start in range(0, q_len, rows):
        band = slice(start, min(start + rows, q_len))
        if is_plain_causal(layer):
            computed = compute_band(layer, Band([head], band, slice(0, band.stop)))
            assert computed.scores is not None  # which a plain causal layer has
            scores, weights = computed.scores[0, 0], computed.weights[0, 0]
            sums.append(scores.amax(-1) - weights.amax(-1).log())
            weights = _fill_later(weights, band, 0, -1)
        else:
            weights = _any_weights(layer, head, band)
        blocks = _largest_of_blocks(weights, step)
        bands.append(nn.functional.pad(blocks, (0, -(-k_len // step) - blocks.shape[1]), value=-1))
    lse = torch.cat(sums).cpu().numpy() if sums else np.empty(0, np.float32)
    return HeadOverview(step, log_codes(torch.cat(bands)), lse)


def make_tile(layer: RecordedLayer, head: int, lse: NDArray[np.float32], step: int, i: int, j: int) -> Tensor:
    """The largest weights of 256 x 256 blocks of `step` x `step` tokens, from row 256·i and column 256·j of blocks.

    Fewer at the lower and right edges. -1 where all of a block is masked.
    """
    _, _, q_len, k_len = layer.shape
    size = TILE * step
    rows, keys = (slice(at * size, min(at * size + size, n)) for at, n in ((i, q_len), (j, k_len)))
    bands = []
    height = max(1, CELLS // (size if len(lse) else k_len) // step) * step
    for start in range(rows.start, rows.stop, height):
        band = slice(start, min(start + height, rows.stop))
        if len(lse):
            q, k = band_vectors(layer, Band([head], band, keys))
            scores = (q * layer.scale @ k.mT)[0, 0]
            sums = torch.from_numpy(lse[band]).to(scores.device)
            weights = _fill_later(scores.sub_(sums[:, None]).exp_(), band, keys.start, -1)
        else:
            weights = _any_weights(layer, head, band)[:, keys]
        bands.append(_largest_of_blocks(weights, step))
    return torch.cat(bands)


def mean_row(layer: RecordedLayer, head: int, start: int, stop: int) -> Tensor:
    """The mean of a head's weights (K,) over the queries from `start` up to `stop`."""
    return layer.cropped(slice(start, stop), slice(None)).weights([head])[0, 0].mean(0)


def head_vectors(layer: RecordedLayer, head: int, kind: str, block: int | None = None) -> NDArray[np.float32]:
    """Queries ("q") or keys ("k") of a head, (n, D): those from position 256·block on, at most 256; None: all."""
    q, k, _ = layer.qkv
    vectors = q[0, head] if kind == "q" else k[0, head * layer.n_kv_heads // layer.n_heads]
    chosen = slice(None) if block is None else slice(block * TILE, (block + 1) * TILE)
    return to_float32(vectors[chosen]).cpu().numpy().astype("<f4")


def file_parts(layers: Sequence[RecordedLayer], heads: Sequence[tuple[int, int]]) -> dict[tuple[Any, ...], bytes]:
    """What a file holds of a text: all heads small, and of these (layer, head) the overview, q and k in 16 bits.

    From q and k the browser makes every weight under any mask and scale. Problem where a head needs more than those.
    """
    parts: dict[tuple[Any, ...], bytes] = {("wall", 1): sample_heads(layers).tobytes()}
    for index, head in heads:
        layer = layers[index]
        if not is_plain_causal(layer):
            raise Problem(
                "Layer {layer} is more than q·k under a causal mask: a file of a long text cannot hold its heads",
                layer=index,
            )
        parts["overview", index, head] = make_overview(layer, head).pack(layer)
        for kind in ("q", "k"):
            parts[kind, index, head] = head_vectors(layer, head, kind).astype("<f2").tobytes()
    return parts


def sample_heads(layers: Sequence[RecordedLayer], per_row: int = 1) -> NDArray[np.uint8]:
    """Thumbnails (heads, 32, 32) of all heads, coded as `packing` does: `per_row` rows of each band are computed."""
    pictures = []
    for layer in layers:
        _, heads, q_len, k_len = layer.shape
        edges_q, edges_k = block_edges(q_len, THUMBNAIL), block_edges(k_len, THUMBNAIL)
        firsts, stops = torch.tensor(edges_q[:-1]), torch.tensor(edges_q[1:])
        share = (torch.arange(per_row) + 0.5) / per_row
        rows = (firsts[:, None] + (stops - firsts)[:, None] * share).long().flatten().to(layer.device)
        cropped = layer.cropped(rows, slice(None))
        weights = cropped.weights()[0].masked_fill(~cropped.mask.expand(1, heads, -1, -1)[0], -1)
        bands = weights.unflatten(1, (len(firsts), per_row)).amax(2)
        largest = torch.stack([bands[..., a:b].amax(-1) for a, b in pairwise(edges_k)], -1)
        codes = torch.where(largest < 0, 255, (largest.clamp(0, 1).sqrt() * 254).round())
        pictures.append(codes.to(torch.uint8).cpu().numpy())
    return np.concatenate(pictures)


def _fill_later(values: Tensor, rows: slice, first_key: int, filler: float) -> Tensor:
    """`values` (q, k) with `filler` where a key comes later than its query; only the keys that may are looked at."""
    start = max(0, rows.start - first_key)
    corner = values[:, start:]
    queries, keys = (torch.arange(n, device=values.device) for n in corner.shape)
    corner.masked_fill_(keys + first_key + start > (queries + rows.start)[:, None], filler)
    return values


def _any_weights(layer: RecordedLayer, head: int, rows: slice) -> Tensor:
    """Weights (q, K) of some rows of any head, -1 where its mask hides a key."""
    band = layer.cropped(rows, slice(None))
    weights = band.weights([head])[0, 0]
    if not layer.exact:
        return weights
    mask = band.mask
    return weights.masked_fill(~mask[0, head if mask.shape[1] > 1 else 0].expand_as(weights), -1)


def _largest_of_blocks(weights: Tensor, step: int) -> Tensor:
    """The largest of each block of `step` x `step` of (q, k); those at the edges may be smaller."""
    if step == 1:
        return weights
    missing = [-n % step for n in weights.shape]
    padded = nn.functional.pad(weights, (0, missing[1], 0, missing[0]), value=-1)
    return padded.unflatten(1, (-1, step)).amax(-1).unflatten(0, (-1, step)).amax(1)


MOST = 16  #: tokens of an answer
MOST_ASKED = 200  #: tokens of a question
HEADS = 8  #: that are named for copying


@dataclass(frozen=True, eq=False)
class Answer:
    """An answer, its most likely token at each step."""

    labels: tuple[str, ...]  #: texts of the tokens after the text: the question's, then the answer's
    asked: int  #: how many of them are the question's
    #: (answer tokens, heads of all layers, keys): the weights of the token that wrote each one; keys are the text's
    #: tokens, then those of `labels`
    rows: NDArray[np.float16]
    #: (layer, head, share): how many of the answer's tokens a head looked at most, in the text, as they were written
    retrieval: tuple[tuple[int, int, float], ...]
    words: tuple[Unit, ...]  #: of the answer: from and up to which of its tokens each goes

    @property
    def text(self) -> str:
        return "".join(self.labels[self.asked :]).strip()


def ask_text(
    run: ModelRun, loaded: LoadedModel, question: str, hidden: tuple[int, int] | None = None, most: int = MOST
) -> Answer:
    """The model's answer to a question after the text of `run`, whose keys and values are not computed again.

    From tokens of the text from `hidden[0]` up to `hidden[1]` the question and the answer take nothing. What tokens
    between had read there before stays.
    """
    layers, count = run.stacks[0].layers, len(run.source)
    asked = prompt_ids(loaded, run.source.texts[0], question)
    if not asked or len(asked) > MOST_ASKED:
        raise Problem("A question has from 1 to {most} tokens", most=MOST_ASKED)
    if loaded.max_positions is not None and count + len(asked) + most > loaded.max_positions:
        raise Problem("The text leaves no room for a question: the model reads {n} tokens", n=loaded.max_positions)
    cache, ids = cache_of(layers), list(asked)
    total = count + len(asked) + most
    seen = torch.ones(1, total, dtype=torch.long, device=loaded.model.device)
    if hidden is not None:
        seen[:, slice(*hidden)] = 0
    stops = _stop_ids(loaded)
    rows: list[NDArray[np.float16]] = []
    new = ids
    for _ in range(most):
        inputs = torch.tensor([new], device=loaded.model.device)
        step = pass_with_cache(loaded.model, inputs, cache, seen=seen[:, : count + len(ids)])
        likely = step.logits.clone()
        likely[stops if not rows else []] = -torch.inf  # it says something
        written = int(likely.argmax())
        if written in stops:
            break
        rows.append(np.zeros((sum(layer.n_heads for layer in layers), total), np.float16))
        last = [layer.cropped(slice(-1, None), slice(None)).weights()[0, :, 0] for layer in step.layers]
        rows[-1][:, : count + len(ids)] = torch.cat(last).to(torch.float16).cpu().numpy()
        new = [written]
        ids.append(written)
    labels, answered = tuple(spell_tokens(loaded.tokenizer, ids)), ids[len(asked) :]
    words = split_units(loaded.tokenizer, answered, "word") if answered else ()
    stacked = np.stack(rows)[..., : count + len(ids)] if rows else np.zeros((0, 0, count + len(ids)), np.float16)
    heads = [(i, head) for i, layer in enumerate(layers) for head in range(layer.n_heads)]
    return Answer(labels, len(asked), stacked, _find_copiers(stacked, run.source.ids, answered, heads), words)


def prompt_ids(loaded: LoadedModel, text: str, question: str) -> list[int]:
    """The ids of a question after a text: another turn of a chat, or a line below prose."""
    tokenizer = loaded.tokenizer
    template = getattr(tokenizer, "chat_template", None)
    marker = "§question§"
    asked = f"\n\n{question.strip()}"  # a beginning that the model goes on with
    if question.rstrip().endswith(("?", "？")):
        asked = f"\n\nQuestion: {question.strip()}\nAnswer:"
    if template:
        turns = [{"role": role, "content": marker} for role in ("user", "assistant", "user")]
        chat = str(tokenizer.apply_chat_template(turns, tokenize=False, add_generation_prompt=True))  # type: ignore[union-attr]
        _, _, opening, closing = chat.split(marker)  # the end of a turn with the beginning of the visitor's next one
        there = max(n for n in range(len(opening) + 1) if text.endswith(opening[:n]))
        if opening[:there].strip():
            asked = opening[there:] + question.strip() + closing
    return list(tokenizer(asked, add_special_tokens=False)["input_ids"])  # type: ignore[misc]


def _stop_ids(loaded: LoadedModel) -> list[int]:
    """Tokens that end an answer: the model's own, and the end of a line."""
    config = getattr(loaded.model, "generation_config", None)
    ends = getattr(config, "eos_token_id", None)
    ids = set(ends if isinstance(ends, list) else [ends]) | {getattr(loaded.tokenizer, "eos_token_id", None)}
    lines = loaded.tokenizer("\n", add_special_tokens=False)["input_ids"]  # type: ignore[misc]
    return sorted({token for token in ids if token is not None} | set(lines if len(lines) == 1 else ()))


def _find_copiers(
    rows: NDArray[np.float16], text: Sequence[int], written: Sequence[int], heads: Sequence[tuple[int, int]]
) -> tuple[tuple[int, int, float], ...]:
    """Heads that looked most at the very token of the text that was then written (Wu et al. 2024), best first."""
    hits: Counter[int] = Counter()
    ids = np.asarray(text)
    for row, token in zip(rows, written, strict=True):
        strongest = row.argmax(-1)  # (heads,)
        inside = strongest < len(ids)
        hits.update(np.flatnonzero(inside & (ids[np.minimum(strongest, len(ids) - 1)] == token)).tolist())
    return tuple((*heads[head], count / len(written)) for head, count in hits.most_common(HEADS))
