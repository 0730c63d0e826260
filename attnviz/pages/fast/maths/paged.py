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
    same: int  #: tokens that it has in common with one before it

    @property
    def ends(self) -> int:
        """The first step at which it is no longer there."""
        return self.begins + self.answer + 1

    def length(self, step: int) -> int:
        """Its tokens after `step`: the prompt when it comes, one more each step."""
        return self.prompt + step - self.begins if self.begins <= step < self.ends else 0


def draw_requests(config: Config) -> tuple[PagedRequest, ...]:
    """Drawn by lot from the seed. The second has the first's prompt: two answers to one question."""
    rng = np.random.default_rng(config.seed)
    made: list[PagedRequest] = []
    begins = 0
    for at in range(config.requests):
        own, answer = int(rng.integers(1, OWN + 1)), int(rng.integers(max(1, config.answer // 4), config.answer + 1))
        prompt, same = (made[0].prompt,) * 2 if at == 1 else (config.shared + own, config.shared)
        made.append(PagedRequest(begins, prompt, answer, same))
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

    def begin(self, request: int, other: int | None, tokens: int) -> None:
        """Take in a request: the first `tokens` of `other` are its own too, and stay in the same blocks."""
        self.lengths[request] = 0 if other is None else tokens
        self.tables[request] = [] if other is None else self.tables[other][: -(-tokens // self.cells.shape[1])]
        self.holders[self.tables[request]] += 1

    def append(self, request: int, token: int) -> bool:
        """Write one token into the last block, or a new one; whether into a copy of it, since others hold it too."""
        table, (at, place) = self.tables[request], divmod(self.lengths[request], self.cells.shape[1])
        copied = at < len(table) and self.holders[table[at]] > 1
        if at == len(table) or copied:
            fresh = int(np.flatnonzero(self.holders == 0)[0])
            self.holders[fresh] = 1
            for old in table[at:]:
                self.cells[fresh] = self.cells[old]
                self.holders[old] -= 1
            table[at:] = [fresh]
        self.cells[table[at], place] = token
        self.lengths[request] += 1
        return bool(copied)

    def free(self, request: int) -> None:
        self.holders[self.tables.pop(request)] -= 1
        del self.lengths[request]

    def found(self, request: int) -> np.ndarray:
        """The tokens of a request, by its table."""
        return self.cells[self.tables[request]].ravel()[: self.lengths[request]]

    def told(self) -> tuple[np.ndarray, np.ndarray]:
        """Of each block the first request that holds it, -1 for nobody; and how many tokens lie in it."""
        owner, filled = np.full(len(self.cells), -1), np.zeros(len(self.cells), int)
        for request, table in reversed(self.tables.items()):
            owner[table] = request
            filled[table] = np.maximum(
                filled[table], self.lengths[request] - self.cells.shape[1] * np.arange(len(table))
            )
        return owner, filled.clip(max=self.cells.shape[1])


def run(config: Config) -> Result:
    """All requests from the first to the last step, in blocks and in one piece each."""
    asked = draw_requests(config)
    tokens, vectors = _tokens(config, asked)
    most = sum(-(-len(each) // config.block) + 1 for each in tokens)
    pool = _Pool(np.zeros((most, config.block), int), np.zeros(most, int))
    pieces: dict[int, tuple[int, int]] = {}
    tables, copies, by_block, counts, apart = [], [], [], [], 0.0
    for step in range(max(one.ends for one in asked) + 1):
        for at in [at for at in pieces if step >= asked[at].ends]:
            pool.free(at)
            del pieces[at]
        for at, one in enumerate(asked):
            if step == one.begins:
                pool.begin(at, next((other for other in pieces if other == 0 or at != 1), None), one.same)
                pieces[at] = _first_fit(sorted(pieces.values()), one.prompt + config.answer)
            new = tokens[at][pool.lengths.get(at, 0) : one.length(step)]
            copies += [(step, at) for token in new if pool.append(at, token)]
        apart = max([apart, *(_apart(vectors, pool.found(at), tokens[at]) for at in pieces)])
        tables.append({at: tuple(table) for at, table in pool.tables.items()})
        first, filled = pool.told()
        by_block.append((first, pool.holders.copy()))
        room = sum(end - start for start, end in pieces.values())
        top = max((end for _start, end in pieces.values()), default=0)
        counts.append((filled.sum(), room, sum(pool.lengths.values()), top - room))
    blocks = 1 + max(number for table in tables for numbers in table.values() for number in numbers)
    owner, holders = np.array(by_block).swapaxes(0, 1)[..., :blocks]
    written, reserved, used, gaps = np.array(counts).T
    held = (owner, holders, written, reserved, used, gaps)
    return Result(config, asked, tuple(tables), *held, tuple(copies), apart)


def _tokens(config: Config, asked: tuple[PagedRequest, ...]) -> tuple[list[np.ndarray], torch.Tensor]:
    """Each request's tokens as numbers, those that it shares the first request's; and at random of each token the
    query's head, the key and the value, (3, G, tokens, D).
    """
    ends = np.cumsum([0, *(one.prompt + one.answer for one in asked)])
    made = [np.arange(start, end) for start, end in pairwise(ends)]
    for own, one in zip(made, asked, strict=True):
        own[: one.same] = np.arange(one.same)
    luck = torch.Generator().manual_seed(config.seed)
    return made, torch.randn((3, KV_HEADS, int(ends[-1]), WIDTH), generator=luck)


def _apart(vectors: torch.Tensor, found: np.ndarray, tokens: np.ndarray) -> float:
    """How far the newest token's attention over what was found is from that over its own tokens in one piece."""
    own = tokens[: len(found)]
    q = vectors[0, :, own[-1:]].repeat_interleave(HEADS // KV_HEADS, 0)  # (H, 1, D)
    in_blocks, whole = (attend(q, *vectors[1:, :, places]).output for places in (found, own))
    return float((in_blocks - whole).abs().max())


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
