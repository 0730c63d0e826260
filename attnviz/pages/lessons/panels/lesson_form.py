"""What a lesson is made of, as data: the app's own lessons and a lecturer's file have the same form."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from attnviz.pages.lessons.maths.subject import FactsOf, nothing

PictureSettings = Mapping[str, str]


@dataclass(frozen=True)
class LessonPicture:
    """A picture of the app: its id in `lesson_pictures.PICTURES`, and what it is set to."""

    kind: str
    set_to: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Question:
    """Asked before the answer is shown. Without `answers` they are tokens of the sentence, from the step's facts.

    `right` is the id of the right answer where no fact computes it: in a lecturer's own file.
    """

    asked: str
    truth: str
    answers: Mapping[str, str] = field(default_factory=dict)
    right: str = ""


@dataclass(frozen=True)
class Notes:
    """For whoever teaches: what to say, where students go wrong, and minutes."""

    say: str = ""
    wrong: str = ""
    minutes: int = 3


@dataclass(frozen=True)
class LessonStep:
    """One idea, one picture, one thing to do. Sentences are templates that the facts fill."""

    title: str
    idea: str
    picture: LessonPicture
    do: str = ""
    facts: FactsOf = nothing
    question: Question | None = None
    after: LessonPicture | None = None  #: the picture once the question is answered
    notes: Notes = field(default_factory=Notes)
    terms: tuple[str, ...] = ()
    page: str = ""  #: where the same can be tried further
    seen: Mapping[str, str] = field(default_factory=dict)  #: what that page is set to


@dataclass(frozen=True)
class Lesson:
    """Steps in order. `own`: a lecturer's, whose sentences are shown as they were written."""

    id: str
    title: str
    steps: tuple[LessonStep, ...]
    own: bool = False
    sentence: str = ""

    @property
    def minutes(self) -> int:
        return sum(step.notes.minutes for step in self.steps)
