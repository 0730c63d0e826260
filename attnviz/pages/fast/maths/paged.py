"""A cache in blocks: requests that grow, share a prefix and end, beside one place reserved for each.

Each request is a prompt and an answer, a token a step. Prompts begin with the same `shared` tokens. Who comes later
takes the blocks of that prefix from a request that is still there; a block that several hold is copied before one
writes into it. What ends frees its blocks, and the lowest free number is given next. Beside it the same requests in
one piece of memory each, reserved to the longest possible answer, at the first place that is wide enough.

Keys and values are real: each token has its own, and `apart` is how far attention over the gathered blocks is from
attention over the same keys in one piece, for each request at each step.
"""

from dataclasses import dataclass, field

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
    made, begins = [], 0
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
    owner: np.ndarray  #: (steps, blocks): the request that holds the block, the first of several
    holders: np.ndarray  #: (steps, blocks): how many requests hold it
    tables: tuple[dict[int, tuple[int, ...]], ...]  #: by step: the blocks of each request, in the order of its tokens
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
    """Blocks by number, and who holds them."""

    block: int
    keys: torch.Tensor  #: (blocks, block, G, D)
    values: torch.Tensor
    holders: list[int] = field(default_factory=list)
    tables: dict[int, list[int]] = field(default_factory=dict)
    lengths: dict[int, int] = field(default_factory=dict)
    copied: list[int] = field(default_factory=list)  #: requests that copied a block, one entry a copy

    def share(self, request: int, other: int, tokens: int) -> None:
        """Begin with the first `tokens` of another request, in the same blocks."""
        self.tables[request] = self.tables[other][: -(-tokens // self.block)]
        self.lengths[request] = tokens
        for number in self.tables[request]:
            self.holders[number] += 1

    def append(self, request: int, key: torch.Tensor, value: torch.Tensor) -> None:
        """Write one token into the last block, a copy of it where others hold it too, or into a new one."""
        table, (at, place) = self.tables[request], divmod(self.lengths[request], self.block)
        if at == len(table):
            table.append(self._take())
        elif self.holders[table[at]] > 1:
            fresh, old = self._take(), table[at]
            for pool in (self.keys, self.values):
                pool[fresh, :place] = pool[old, :place]
            self.holders[old] -= 1
            table[at] = fresh
            self.copied.append(request)
        self.keys[table[at], place], self.values[table[at], place] = key, value
        self.lengths[request] += 1

    def free(self, request: int) -> None:
        for number in self.tables.pop(request):
            self.holders[number] -= 1
        del self.lengths[request]

    def gathered(self, request: int) -> tuple[torch.Tensor, torch.Tensor]:
        """Keys and values (G, T, D) of a request, found by its table."""
        n = self.lengths[request]
        k, v = (pool[self.tables[request]].flatten(0, 1)[:n].transpose(0, 1) for pool in (self.keys, self.values))
        return k, v

    def written(self) -> int:
        """Tokens in blocks, each once: of those who hold a block, the one with most tokens in it counts."""
        most: dict[int, int] = {}
        for request, table in self.tables.items():
            for at, number in enumerate(table):
                most[number] = max(most.get(number, 0), min(self.block, self.lengths[request] - at * self.block))
        return sum(most.values())

    def _take(self) -> int:
        number = next((n for n, count in enumerate(self.holders) if count == 0), len(self.holders))
        if number == len(self.holders):
            self.holders.append(0)
        self.holders[number] = 1
        return number


def run(config: Config) -> Result:
    """All requests from the first to the last step, in blocks and in one piece each."""
    asked = requests(config)
    tokens = _token_vectors(config, asked)
    most = sum(-(-(one.prompt + one.answer) // config.block) + 1 for one in asked)
    room = torch.zeros(2, most, config.block, KV_HEADS, WIDTH)
    pool, steps, copies, apart = _Pool(config.block, room[0], room[1]), [], [], 0.0
    for step in range(max(one.ends for one in asked) + 1):
        for at in [at for at in pool.tables if step >= asked[at].ends]:
            pool.free(at)
        for at, one in enumerate(asked):
            _grow(pool, at, one, step, config, asked, tokens)
        copies += [(step, at) for at in pool.copied]
        pool.copied.clear()
        apart = max([apart, *(_apart(pool, at, tokens[at]) for at in pool.tables)])
        tables = {at: tuple(table) for at, table in pool.tables.items()}
        steps.append((tables, list(pool.holders), pool.written()))
    tables, holders, written = zip(*steps, strict=True)
    owner, counted = _by_block(tables, holders)
    return Result(
        config, asked, owner, counted, tables, np.array(written), *_one_piece(config, asked), tuple(copies), apart
    )


def _grow(
    pool: _Pool,
    at: int,
    one: PagedRequest,
    step: int,
    config: Config,
    asked: tuple[PagedRequest, ...],
    tokens: tuple[torch.Tensor, ...],
) -> None:
    """Give a request its tokens of this step; one that comes takes the prefix from who is there."""
    if not one.begins <= step < one.ends:
        return
    if at not in pool.tables:
        same = one.prompt if at == 1 else config.shared  # the second has the first one's prompt
        others = [other for other in pool.tables if other == 0 or at != 1]
        pool.tables[at], pool.lengths[at] = [], 0
        if others and same:
            pool.share(at, others[0], same)
    while pool.lengths[at] < one.length(step):
        key, value = tokens[at][:, pool.lengths[at]]
        pool.append(at, key, value)


def _token_vectors(config: Config, asked: tuple[PagedRequest, ...]) -> tuple[torch.Tensor, ...]:
    """Of each request, (2, tokens, G, D): the key and the value of each token, the same where tokens are the same."""
    made = torch.Generator().manual_seed(config.seed)
    own = [torch.randn(2, one.prompt + one.answer, KV_HEADS, WIDTH, generator=made) for one in asked]
    for at, vectors in enumerate(own[1:], 1):
        same = asked[0].prompt if at == 1 else config.shared
        vectors[:, :same] = own[0][:, :same]
    return tuple(own)


def _apart(pool: _Pool, at: int, tokens: torch.Tensor) -> float:
    """How far a query's attention over the blocks is from that over the tokens in one piece."""
    n = pool.lengths[at]
    q = tokens[0, n - 1].repeat_interleave(HEADS // KV_HEADS, 0)[:, None]  # (H, 1, D)
    k, v = tokens[:, :n].transpose(1, 2)
    return float((attend(q, *pool.gathered(at)).output - attend(q, k, v).output).abs().max())


def _by_block(tables: tuple[dict[int, tuple[int, ...]], ...], holders: tuple[list[int], ...]) -> tuple[np.ndarray, ...]:
    """(steps, blocks): the first request that holds each block, and how many do."""
    blocks = len(holders[-1])
    owner = np.full((len(tables), blocks), -1)
    counted = np.array([[*row, *[0] * (blocks - len(row))] for row in holders])
    for step, of_step in enumerate(tables):
        for at in sorted(of_step, reverse=True):
            owner[step, list(of_step[at])] = at
    return owner, counted


def _one_piece(config: Config, asked: tuple[PagedRequest, ...]) -> tuple[np.ndarray, ...]:
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
    return tuple(np.array(column) for column in zip(*rows, strict=True))


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
