"""A question after a long text: what the model answers, and what each token of the answer read."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from attnviz.analysis.model_run import ModelRun
from attnviz.base.message import Problem
from attnviz.models.capture.cached_pass import cache_of, pass_with_cache
from attnviz.models.catalogue import LoadedModel
from attnviz.models.tokens.units import Unit, spell_tokens, split_units

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
