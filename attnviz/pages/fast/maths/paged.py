"""A cache in blocks: requests that grow, share a prefix and end, beside one place reserved for each.

Each request is a prompt and an answer, a token a step. Prompts begin with the same `shared` tokens. Who comes later
takes the blocks of that prefix from a request that is still there; a block that several hold is copied before one
writes into it. What ends frees its blocks, and the lowest free number is given next. Beside it the same requests in
one piece of memory each, reserved to the longest possible answer, at the first place that is wide enough.

Keys and values are real: each token has its own, and `apart` is how far attention over the gathered blocks is from
attention over the same keys in one piece, for each request at each step.
"""

from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
import torch

from attnviz.base.message import require_within
from attnviz.core.attention import attend

LIMITS = {"block": (1, 64), "shared": (0, 256), "requests": (2, 7), "answer": (1, 256)}
HEADS, KV_HEADS, WIDTH = 4, 2, 8
BETWEEN = 5  #: steps from one request to the next, at most
OWN = 24  #: tokens of a prompt after the prefix, at most


@dataclass(frozen=True)
class Config:
    block: int = 16  #: tokens
    shared: int = 40  #: tokens that every prompt begins with
    requests: int = 6
    answer: int = 64  #: the longest one, which contiguous memory reserves
    seed: int = 0

    def __post_init__(self) -> None:
        require_within(self, LIMITS)


@dataclass(frozen=True)
class PagedRequest:
    """When it comes, and its tokens: the prompt's and the answer's, which nobody knows beforehand."""

    begins: int
    prompt: int
    answer: int

    @property
    def ends(self) -> int:
        """The first step at which it is no longer there."""
        return self.begins + self.answer + 1

    def length(self, step: int) -> int:
        """Its tokens after `step`: the prompt when it comes, one more each step."""
        return self.prompt + step - self.begins if self.begins <= step < self.ends else 0


def requests(config: Config) -> tuple[PagedRequest, ...]:
    """Drawn by lot from the seed. The second has the first's prompt: two answers to one question."""
    rng = np.random.default_rng(config.seed)
    made: list[PagedRequest] = []
    begins = 0
    for at in range(config.requests):
        own, answer = int(rng.integers(1, OWN + 1)), int(rng.integers(max(1, config.answer // 4), config.answer + 1))
        made.append(PagedRequest(begins, made[0].prompt if at == 1 else config.shared + own, answer))
        begins += 0 if at == 0 else int(rng.integers(1, 4 * BETWEEN))
    return tuple(made)


@dataclass(frozen=True, eq=False)
class Result:
    """Everything after each step; -1 stands for nobody."""

    config: Config
    requests: tuple[PagedRequest, ...]
    tables: tuple[dict[int, tuple[int, ...]], ...]  #: by step: the blocks of each request, in the order of its tokens
    owner: np.ndarray  #: (steps, blocks): the request that holds the block, the first of several
    holders: np.ndarray  #: (steps, blocks): how many requests hold it
    written: np.ndarray  #: (steps,): tokens that lie in blocks, each counted once
    reserved: np.ndarray  #: (steps,): tokens reserved in one piece each
    used: np.ndarray  #: (steps,): of these, tokens that are there
    gaps: np.ndarray  #: (steps,): tokens between pieces, free but not in one piece with the rest
    copies: tuple[tuple[int, int], ...]  #: (step, request) of each copy before writing
    apart: float  #: largest difference from attention over one piece

    @property
    def steps(self) -> int:
        return len(self.owner)

    @property
    def held(self) -> np.ndarray:
        """(steps,): tokens that have room in the blocks that are held."""
        return np.asarray((self.holders > 0).sum(1) * self.config.block)


@dataclass
class _Pool:
    """Blocks of token numbers, and who holds them."""

    cells: np.ndarray  #: (blocks, block)
    holders: np.ndarray  #: (blocks,): how many requests
    tables: dict[int, list[int]] = field(default_factory=dict)
    lengths: dict[int, int] = field(default_factory=dict)
    copied: list[int] = field(default_factory=list)  #: the request of each copy

    def begin(self, request: int, other: int | None, tokens: int) -> None:
        """Take in a request: the first `tokens` of `other` are its own too, and stay in the same blocks."""
        self.lengths[request] = 0 if other is None else tokens
        self.tables[request] = [] if other is None else self.tables[other][: -(-tokens // self.cells.shape[1])]
        self.holders[self.tables[request]] += 1

    def append(self, request: int, token: int) -> None:
        """Write one token into the last block, into a copy of it where others hold it too, or into a new one."""
        table, (at, place) = self.tables[request], divmod(self.lengths[request], self.cells.shape[1])
        if at == len(table):
            table.append(self._take())
        elif self.holders[table[at]] > 1:
            fresh = self._take()
            self.cells[fresh, :place] = self.cells[table[at], :place]
            self.holders[table[at]] -= 1
            table[at] = fresh
            self.copied.append(request)
        self.cells[table[at], place] = token
        self.lengths[request] += 1

    def free(self, request: int) -> None:
        self.holders[self.tables.pop(request)] -= 1
        del self.lengths[request]

    def found(self, request: int) -> np.ndarray:
        """The tokens of a request, by its table."""
        return self.cells[self.tables[request]].ravel()[: self.lengths[request]]

    def _take(self) -> int:
        """The lowest free block."""
        number = int(np.flatnonzero(self.holders == 0)[0])
        self.holders[number] = 1
        return number


def run(config: Config) -> Result:
    """All requests from the first to the last step, in blocks and in one piece each."""
    asked = requests(config)
    tokens = _tokens(config, asked)
    most = sum(-(-len(each) // config.block) + 1 for each in tokens)
    pool = _Pool(np.zeros((most, config.block), int), np.zeros(most, int))
    vectors = _vectors(config, asked)
    tables: list[dict[int, tuple[int, ...]]] = []
    copies: list[tuple[int, int]] = []
    apart = 0.0
    for step in range(max(one.ends for one in asked) + 1):
        for at in [at for at in pool.tables if step >= asked[at].ends]:
            pool.free(at)
        for at, one in enumerate(asked):
            if step == one.begins:
                same = one.prompt if at == 1 else config.shared
                pool.begin(at, next((other for other in pool.tables if other == 0 or at != 1), None), same)
            for token in tokens[at][pool.lengths.get(at, 0) : one.length(step)]:
                pool.append(at, token)
        copies += [(step, at) for at in pool.copied[len(copies) :]]
        apart = max([apart, *(_apart(vectors, pool.found(at), tokens[at]) for at in pool.tables)])
        tables.append({at: tuple(table) for at, table in pool.tables.items()})
    arrays = _by_block(config, asked, tables) | _one_piece(config, asked)
    return Result(config, asked, tuple(tables), copies=tuple(copies), apart=apart, **arrays)


def _tokens(config: Config, asked: tuple[PagedRequest, ...]) -> list[np.ndarray]:
    """Each request's tokens as numbers; those of a prefix that is shared are the first request's."""
    ends = np.cumsum([0, *(one.prompt + one.answer for one in asked)])
    made = [np.arange(start, end) for start, end in pairwise(ends)]
    for at, own in enumerate(made):
        same = asked[0].prompt if at == 1 else config.shared
        own[:same] = np.arange(same)
    return made


def _vectors(config: Config, asked: tuple[PagedRequest, ...]) -> torch.Tensor:
    """The query's head, the key and the value of each token, (3, G, tokens, D), at random."""
    shape = (3, KV_HEADS, sum(one.prompt + one.answer for one in asked), WIDTH)
    return torch.randn(shape, generator=torch.Generator().manual_seed(config.seed))


def _apart(vectors: torch.Tensor, found: np.ndarray, tokens: np.ndarray) -> float:
    """How far the newest token's attention over what was found is from that over its own tokens in one piece."""
    own = tokens[: len(found)]
    q = vectors[0, :, own[-1:]].repeat_interleave(HEADS // KV_HEADS, 0)  # (H, 1, D)
    (_q, k, v), (_q, keys, values) = vectors[:, :, found], vectors[:, :, own]
    return float((attend(q, k, v).output - attend(q, keys, values).output).abs().max())


def _by_block(
    config: Config, asked: tuple[PagedRequest, ...], tables: list[dict[int, tuple[int, ...]]]
) -> dict[str, np.ndarray]:
    """(steps, blocks): the first request that holds each block, and how many do; (steps,): tokens that lie in them."""
    blocks = 1 + max(number for table in tables for numbers in table.values() for number in numbers)
    owner, holders, filled = (np.full((len(tables), blocks), start) for start in (-1, 0, 0))
    for step, table in enumerate(tables):
        for at in sorted(table, reverse=True):
            numbers = list(table[at])
            here = asked[at].length(step) - config.block * np.arange(len(numbers))
            filled[step, numbers] = np.maximum(filled[step, numbers], here.clip(0, config.block))
            owner[step, numbers] = at
            holders[step, numbers] += 1
    return {"owner": owner, "holders": holders, "written": filled.sum(1)}


def _one_piece(config: Config, asked: tuple[PagedRequest, ...]) -> dict[str, np.ndarray]:
    """(steps,): tokens reserved, tokens of them that are there, and those in the gaps below the highest piece."""
    places: dict[int, tuple[int, int]] = {}
    rows = []
    for step in range(max(one.ends for one in asked) + 1):
        places = {at: place for at, place in places.items() if step < asked[at].ends}
        for at, one in enumerate(asked):
            if one.begins == step:
                places[at] = _first_fit(sorted(places.values()), one.prompt + config.answer)
        reserved = sum(end - start for start, end in places.values())
        used = sum(asked[at].length(step) for at in places)
        rows.append((reserved, used, max((end for _start, end in places.values()), default=0) - reserved))
    columns = zip(("reserved", "used", "gaps"), np.array(rows).T, strict=True)
    return dict(columns)


def _first_fit(taken: list[tuple[int, int]], width: int) -> tuple[int, int]:
    """The first place of this width between the pieces, or behind them all."""
    start = 0
    for begins, ends in taken:
        if begins - start >= width:
            break
        start = ends
    return start, start + width


def program(config: Config) -> str:
    """Prints what is held and what is lost where most is reserved."""
    return f"""\
from attnviz.pages.fast.maths import paged

result = paged.run(paged.{config})
step = int(result.reserved.argmax())
print(f"step {{step}}: one piece each reserves {{result.reserved[step]}} tokens for {{result.used[step]}}")
print(f"blocks hold {{result.held[step]}} for {{result.written[step]}}")
print(f"attention over blocks and over one piece differ by {{result.apart:.0e}}")
for request, blocks in result.tables[step].items():
    print(f"request {{request + 1}}: blocks {{blocks}}")
"""
