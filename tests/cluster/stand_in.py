"""A stand-in for Ray, which makes each task in this process as soon as it is given one.

It shows what the app does around Ray's calls, and nothing of Ray: that is asked of a real one in test_ray_engine.
"""

from __future__ import annotations

from dataclasses import dataclass
from types import ModuleType
from typing import Any

OF_RAY = ("RayActorError", "RayTaskError", "WorkerCrashedError", "OutOfMemoryError", "RaySystemError")


class StandIn(ModuleType):
    """The module `ray`. `fails` names a call that ends as it does without a cluster."""

    def __init__(self) -> None:
        super().__init__("ray")
        self.fails = ""
        self.ends_with = ""  # an error of Ray's by which each answer ends
        self.sent: list[tuple[Any, ...]] = []
        self.limits: list[float] = []
        self.exceptions = module("ray.exceptions", errors("RayError", *OF_RAY))
        refusals = module("ray.serve.exceptions", errors("BackPressureError", "ReplicaUnavailableError"))
        multiplexed = {"multiplexed": lambda **_limits: lambda method: method}
        self.serve = module("ray.serve", {"exceptions": refusals, **multiplexed})

    def modules(self) -> dict[str, ModuleType]:
        """What `import` finds."""
        return {each.__name__: each for each in (self, self.exceptions, self.serve, self.serve.exceptions)}

    def remote(self, work: Any) -> Any:
        return Task(self, work)

    def put(self, value: Any) -> Any:
        self.may_fail("put")
        return value

    def wait(self, answers: list[Answer], timeout: float) -> tuple[list[Answer], list[Answer]]:
        """Nothing at the first look at an answer."""
        self.may_fail("wait")
        (answer,) = answers
        answer.looks += 1
        return (answers, []) if answer.looks > 1 else ([], answers)

    def get(self, answer: Answer, timeout: float) -> Any:
        self.limits.append(timeout)
        if self.ends_with:
            raise getattr(self.exceptions, self.ends_with)("of Ray's")
        return answer.value

    def cancel(self, answer: Answer, force: bool) -> None:
        pass

    def may_fail(self, name: str) -> None:
        if name == self.fails:
            raise ConnectionError("the cluster is gone")


@dataclass
class Answer:
    """What a task has made, and how often it was looked for."""

    value: Any
    looks: int = 0


class Task:
    """What `ray.remote` makes of a function."""

    def __init__(self, ray: StandIn, work: Any) -> None:
        self.ray, self.work = ray, work

    def options(self, **_where: Any) -> Task:
        return self

    def remote(self, *told: Any) -> Answer:
        self.ray.may_fail("remote")
        self.ray.sent.append(told)
        return Answer(self.work(*told))


def errors(*names: str) -> dict[str, type[Exception]]:
    """Exceptions by their names."""
    return {name: type(name, (Exception,), {}) for name in names}


def module(name: str, has: dict[str, Any]) -> Any:
    """A module that has these."""
    made = ModuleType(name)
    vars(made).update(has)
    return made
