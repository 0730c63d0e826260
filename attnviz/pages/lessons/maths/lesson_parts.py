"""Building blocks of lessons: the subject with its sentence, facts, and steps, all as data."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, reduce, wraps
from typing import Any

import numpy as np
import torch

from attnviz.analysis import head_matrix, what_if
from attnviz.analysis.model_run import ModelRun, Stack
from attnviz.base.head_edit import NO_EDIT, HeadEdit
from attnviz.base.message import Problem
from attnviz.base.query_numbers import QueryNumbers
from attnviz.base.word_boundaries import split
from attnviz.core.attention import attend
from attnviz.models.architecture import Architecture, LayerSpec
from attnviz.models.capture import RecordedLayer
from attnviz.models.catalogue import LoadedModel
from attnviz.pages.build.maths import attention_by_hand, inputs
from attnviz.pages.home import maths as landing

MOST_WORDS = 6  #: words whose order and mask are on show
MOST_HAND_WORDS = 5  #: words that are worked out by hand: their three matrices stand on one line
WIDTH = 4  #: of the vectors by hand
NEW_WORDS = ("children", "teacher")  #: one takes the place of a word
ALIKE = 1e-6  #: numbers that differ by no more are the same but for rounding
HEAD = landing.HEAD  #: layer and head of the trained model on show


@dataclass(frozen=True)
class Facts:
    """Values that fill a step's sentences, ids of right answers, and answers that depend on the sentence.

    Several are right where the sentence makes them equal.
    """

    values: Mapping[str, object]
    right: tuple[str, ...] = ()
    answers: tuple[tuple[str, str], ...] = ()  #: (id, token) where the answers are tokens of the sentence

    def joined(self, others: "Facts") -> "Facts":
        """These facts and others; a value that both have is taken from these."""
        answering = self if self.right else others
        return replace(answering, values={**others.values, **self.values})


@dataclass(frozen=True)
class Exchange:
    """One word replaced by another: its first token's index, both words, and the weights (K, K) then.

    They are arranged as the tokens of the sentence before: a word's first token has the weight of the whole new word.
    """

    at: int
    old: str
    new: str
    weights: np.ndarray


def _align_weights(matrix: head_matrix.Matrix, tokens: Sequence[int], count: int) -> np.ndarray:
    """Weights of a changed sentence as those of the `count` tokens before; `tokens` were replaced."""
    weights, first, end = np.where(matrix.hidden, 0.0, matrix.values), tokens[0], tokens[-1] + 1
    more = len(weights) - count
    groups = [range(i + more * (i >= end), i + more * (i >= end) + 1) for i in range(count)]
    groups[first:end] = [range(first, end + more), *[range(0)] * (end - first - 1)]
    columns = np.stack([weights[:, list(group)].sum(1) for group in groups], 1)
    return np.stack([columns[group[-1] if group else end + more - 1] for group in groups])


def _refuse_without_model(*_arguments: Any) -> Any:
    raise Problem("This step needs a trained model on this machine: the page Explore says how to get one")


@dataclass(frozen=True)
class Subject:
    """The sentence of a lesson and its run: of a random head where no trained model is on this machine.

    What then needs the model raises a Problem.
    """

    run: ModelRun
    get_model: Callable[[], LoadedModel] = field(default=_refuse_without_model, compare=False)
    #: `compute(run, loaded, *arguments)`, kept
    rerun: Callable[..., Any] = field(default=_refuse_without_model, compare=False)
    with_text: Callable[[str], "Subject"] | None = field(default=None, compare=False)  #: the same with another sentence

    @property
    def text(self) -> str:
        return self.run.request.text

    @property
    def is_trained(self) -> bool:
        return self.run.request.model != landing.RANDOM

    @property
    def first_words(self) -> tuple[str, ...]:
        """The first words of the sentence."""
        return split(self.text)[:MOST_WORDS]

    @property
    def hand_words(self) -> tuple[str, ...]:
        """The words that are worked out by hand: the last ones up to the word whose row lessons discuss."""
        read = "".join(span.text for span in self.run.source.spans[: self.row + 1])
        return split(self.text)[: max(MOST_HAND_WORDS, len(split(read)))][-MOST_HAND_WORDS:]

    @property
    def trained_run(self) -> ModelRun:
        """The run of the trained model, without which it raises a Problem."""
        return self.run if self.is_trained else _refuse_without_model()

    @property
    def stack(self) -> Stack:
        return self.run.stacks[0]

    @property
    def head(self) -> tuple[int, int]:
        """Layer and head on show."""
        return HEAD if self.is_trained else (0, 0)

    @property
    def layers(self) -> Sequence[RecordedLayer | LayerSpec]:
        """Layers of the trained model, or without one the layers of the model that lessons are made for."""
        return self.stack.layers if self.is_trained else Architecture.preset(landing.MODEL).layers

    def matrix(self, edit: HeadEdit = NO_EDIT) -> head_matrix.Matrix:
        """Matrix of the displayed head."""
        return what_if.edited_head(self.stack, *self.head, edit)

    @property
    def row(self) -> int:
        """Index of the displayed head's most telling row, which lessons speak of."""
        return self.matrix().telling_row

    @property
    def tokens(self) -> tuple[str, ...]:
        return self.run.source.labels

    @property
    def head_layer(self) -> RecordedLayer:
        """The layer of the displayed head."""
        return self.stack.layers[self.head[0]]

    @property
    def token_texts(self) -> tuple[str, ...]:
        """The text of each token, with the blanks before it."""
        return tuple(self.text[span.start : span.end] for span in self.run.source.spans)

    def query_numbers(self) -> QueryNumbers:
        """The vectors and weights behind the row that lessons speak of."""
        layer, (_layer, head), matrix = self.head_layer, self.head, self.matrix()
        q, k, v = (tensor[0].float().numpy(force=True) for tensor in layer.qkv)
        kv_head = head * len(k) // len(q)
        return QueryNumbers(
            matrix.rows,
            [text[:1].isspace() for text in self.token_texts],
            self.row,
            self.vectors[:, : q.shape[-1]],
            q[head, self.row],
            k[kv_head],
            v[kv_head],
            ~matrix.hidden[self.row],
            np.where(matrix.hidden, -1.0, matrix.values).astype(np.float32),
            layer.scale_of(head),
        )

    def row_weights(self, scale: float | None = None) -> np.ndarray:
        """Weights (K,) of the row that lessons speak of, with its scores times `scale`; None: the model's own."""
        numbers = self.query_numbers()
        q, k, v = (torch.from_numpy(vectors)[None] for vectors in (numbers.q[None], numbers.k, numbers.v))
        factor = numbers.scale if scale is None else scale
        return attend(q, k, v, torch.from_numpy(numbers.seen), factor).weights[0, 0].numpy()

    @property
    def favourite_key(self) -> int:
        """Index of the key with the largest weight in the row that lessons speak of."""
        matrix = self.matrix()
        return int(np.where(matrix.hidden[self.row], -1.0, matrix.values[self.row]).argmax())

    @cached_property
    def exchange(self) -> "Exchange":
        """The word that the row looks at most beside itself, replaced by another."""
        matrix, texts = self.matrix(), list(self.token_texts)
        weights = np.where(matrix.hidden[self.row], -1.0, matrix.values[self.row])
        weights[self.row] = -0.5  # only where there is no other
        best = int(weights.argmax())
        words = [span.word for span in self.run.source.spans]
        tokens = [i for i, word in enumerate(words) if word == words[best]] if words[best] is not None else [best]
        old = "".join(texts[tokens[0] : tokens[-1] + 1])
        new = next(word for word in NEW_WORDS if word != old.strip().lower())
        texts[tokens[0] : tokens[-1] + 1] = [old[: len(old) - len(old.lstrip())] + new]
        changed = self.of_text("".join(texts))
        return Exchange(tokens[0], old.strip(), new, _align_weights(changed.matrix(), tokens, len(self.tokens)))

    def of_text(self, text: str) -> "Subject":
        """The subject with another text."""
        return random_subject(text) if self.with_text is None else self.with_text(text)

    @property
    def vectors(self) -> np.ndarray:
        """Embeddings (K, M) of the tokens before the first layer; of a random head, the vectors of its words."""
        if not self.is_trained:
            return self.head_layer.qkv[2][0, 0].numpy()
        table = self.get_model().model.get_input_embeddings().weight
        return np.stack([table[id].detach().float().numpy() for id in self.run.source.ids])

    def attend_by_hand(
        self, tokens: tuple[str, ...] | None = None, *, mask: inputs.MaskName = "none", heads: int = 1
    ) -> attention_by_hand.Result:
        """Compute attention over the words with small random vectors, keeping every number."""
        width = WIDTH // heads
        return attention_by_hand.run(
            inputs.Config(
                tokens or self.hand_words,
                d_model=WIDTH,
                n_heads=heads,
                n_kv_heads=heads,
                d_head=width,
                d_value=width,
                mask=mask,
            )
        )


def random_subject(text: str) -> Subject:
    """The sentence in a random head, where no trained model is on this machine."""
    return Subject(landing.random_run(text))


def require_two(words: Sequence[str]) -> None:
    """Raise a Problem for one word, in steps that compare two."""
    if len(words) < 2:
        raise Problem("One word has none before it: type at least two.")


FactsFunction = Callable[[Subject], Facts]
FACTS: dict[str, FactsFunction] = {}  #: by the names that lessons call them


def fact(*bases: FactsFunction) -> Callable[[FactsFunction], FactsFunction]:
    """Register a function of facts under its name; the values of `bases` are at hand with its own."""

    def register(function: FactsFunction) -> FactsFunction:
        @wraps(function)
        def compute(subject: Subject) -> Facts:
            return reduce(Facts.joined, (base(subject) for base in bases), function(subject))

        FACTS[function.__name__] = compute
        return compute

    return register


def nearest_answers(answers: Mapping[str, float], value: float) -> tuple[str, ...]:
    """Ids of the answers whose numbers are nearest to `value`; several where they are as near."""
    distances = {name: abs(number - value) for name, number in answers.items()}
    return tuple(name for name, distance in distances.items() if distance <= min(distances.values()) + ALIKE)


PictureSettings = Mapping[str, str]


@dataclass(frozen=True)
class LessonPicture:
    """A picture of a step: its id in `hand_pictures.PICTURES`, and its settings."""

    kind: str
    settings: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Question:
    """A question with its explanation. Without `answers`, they are tokens of the sentence, from the step's facts.

    `right` is the id of the right answer where no fact computes it: in a lecturer's file.
    """

    prompt: str
    truth: str
    answers: Mapping[str, str] = field(default_factory=dict)
    right: str = ""


@dataclass(frozen=True)
class LessonStep:
    """One idea, one picture, one thing to do. Sentences are templates, filled with the facts.

    For the teacher: what to `say`, where students go `wrong`, and `minutes`.
    """

    title: str
    idea: str
    picture: LessonPicture
    do: str = ""
    facts: tuple[str, ...] = ()  #: names, in the register of facts
    question: Question | None = None
    after: LessonPicture | None = None  #: the picture once the question is answered
    say: str = ""
    wrong: str = ""
    minutes: int = 3
    terms: tuple[str, ...] = ()
    page: str = ""  #: where the same can be tried further
    page_choices: Mapping[str, str] = field(default_factory=dict)  #: what that page is set to


PageLink = tuple[str, str, Mapping[str, str]]  #: its words, a page, and what that page is set to


@dataclass(frozen=True)
class Lesson:
    """The steps of one lesson, in the order in which links count them, as its file has them in one language.

    `summary` is what a student knows at the end, with the facts of the last step, and `page_links` follow it.
    `sentence` is the lesson's own; a visitor who types another replaces it.
    """

    id: str
    title: str
    steps: tuple[LessonStep, ...]
    is_custom: bool  #: a lecturer's
    sentence: str
    summary: str
    page_links: tuple[PageLink, ...]
    source: str  #: the text of its file

    @property
    def minutes(self) -> int:
        return sum(step.minutes for step in self.steps)
