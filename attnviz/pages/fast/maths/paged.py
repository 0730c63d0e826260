"""A paged KV cache, beside one contiguous piece of memory for each request.

Each request is a prompt and an answer, a token a step. Prompts begin with the same `shared` tokens. Who comes later
takes the blocks of that prefix from a request that is still there; a block that several hold is copied before one
writes into it. What ends frees its blocks, and the lowest free number is given next. Beside it the same requests in
one piece of memory each, reserved to the longest possible answer, at the first place that is wide enough.

Keys and values are real: each token has its own. `max_difference` is the largest gap, over requests and steps, between
attention over the gathered blocks and attention over the same keys in one piece.
"""

from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
import torch

from attnviz.base.message import require_within
from attnviz.core.attention import attend

LIMITS = {"block": (1, 64), "shared": (0, 256), "requests": (2, 7), "answer": (1, 256)}
HEADS, KV_HEADS, WIDTH = 4, 2, 8
MAX_STEPS_BETWEEN = 5  #: steps from one request to the next, at most
MAX_OWN_TOKENS = 24  #: tokens of a prompt after the prefix, at most


@dataclass(frozen=True)
class Config:
    """The requests, and the size of a block."""

    block: int = 16  #: tokens
    shared: int = 40  #: tokens that every prompt begins with
    requests: int = 6
    answer: int = 64  #: the longest one, which contiguous memory reserves
    seed: int = 0

    def __post_init__(self) -> None:
        require_within(self, LIMITS)


@dataclass(frozen=True)
class PagedRequest:
    """First step of a request, and the tokens of its prompt and of its answer, whose length is not known beforehand."""

    begins: int
    prompt: int
    answer: int
    shared_tokens: int  #: tokens that it has in common with one before it

    @property
    def ends(self) -> int:
        """The first step at which it is no longer there."""
        return self.begins + self.answer + 1

    def length(self, step: int) -> int:
        """Its tokens after `step`: the prompt when it comes, one more each step."""
        return self.prompt + step - self.begins if self.begins <= step < self.ends else 0


def draw_requests(config: Config) -> tuple[PagedRequest, ...]:
    """Draw random requests from the seed. The second has the first's prompt: two answers to one question."""
    rng = np.random.default_rng(config.seed)
    requests: list[PagedRequest] = []
    begins = 0
    for at in range(config.requests):
        own_tokens, answer = (
            int(rng.integers(1, MAX_OWN_TOKENS + 1)),
            int(rng.integers(max(1, config.answer // 4), config.answer + 1)),
        )
        prompt, shared_tokens = (requests[0].prompt,) * 2 if at == 1 else (config.shared + own_tokens, config.shared)
        requests.append(PagedRequest(begins, prompt, answer, shared_tokens))
        begins += 0 if at == 0 else int(rng.integers(1, 4 * MAX_STEPS_BETWEEN))
    return tuple(requests)


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
    max_difference: float  #: largest difference from attention over one piece

    @property
    def steps(self) -> int:
        return len(self.owner)

    @property
    def block_capacity(self) -> np.ndarray:
        """(steps,): tokens that have room in the blocks that are held."""
        return np.asarray((self.holders > 0).sum(1) * self.config.block)


@dataclass
class _Pool:
    """Blocks of token numbers, and who holds them."""

    cells: np.ndarray  #: (blocks, block)
    holders: np.ndarray  #: (blocks,): how many requests
    tables: dict[int, list[int]] = field(default_factory=dict)
    lengths: dict[int, int] = field(default_factory=dict)

    def add_request(self, request: int, donor: int | None, tokens: int) -> None:
        """Add a request that shares the blocks of the first `tokens` tokens of `donor`; None: it shares nothing."""
        self.lengths[request] = 0 if donor is None else tokens
        self.tables[request] = [] if donor is None else self.tables[donor][: -(-tokens // self.cells.shape[1])]
        self.holders[self.tables[request]] += 1

    def append_token(self, request: int, token: int) -> bool:
        """Write one token into the last block or a new one. True if a shared block had to be copied first."""
        table, (at, offset) = self.tables[request], divmod(self.lengths[request], self.cells.shape[1])
        copied = at < len(table) and self.holders[table[at]] > 1
        if at == len(table) or copied:
            fresh = int(np.flatnonzero(self.holders == 0)[0])
            self.holders[fresh] = 1
            for old in table[at:]:
                self.cells[fresh] = self.cells[old]
                self.holders[old] -= 1
            table[at:] = [fresh]
        self.cells[table[at], offset] = token
        self.lengths[request] += 1
        return bool(copied)

    def free_request(self, request: int) -> None:
        self.holders[self.tables.pop(request)] -= 1
        del self.lengths[request]

    def gather_tokens(self, request: int) -> np.ndarray:
        """The tokens of a request, by its table."""
        return self.cells[self.tables[request]].ravel()[: self.lengths[request]]

    def describe_blocks(self) -> tuple[np.ndarray, np.ndarray]:
        """First holder of each block, -1 for none, and the number of tokens in it; both (blocks,)."""
        owner, filled = np.full(len(self.cells), -1), np.zeros(len(self.cells), int)
        for request, table in reversed(self.tables.items()):
            owner[table] = request
            filled[table] = np.maximum(
                filled[table], self.lengths[request] - self.cells.shape[1] * np.arange(len(table))
            )
        return owner, filled.clip(max=self.cells.shape[1])


def run(config: Config) -> Result:
    """Simulate all steps, in blocks and in one piece for each request."""
    requests = draw_requests(config)
    tokens, vectors = _number_tokens(config, requests)
    max_blocks = sum(-(-len(token_ids) // config.block) + 1 for token_ids in tokens)
    pool = _Pool(np.zeros((max_blocks, config.block), int), np.zeros(max_blocks, int))
    pieces: dict[int, tuple[int, int]] = {}
    tables, copies, by_block, counts, max_difference = [], [], [], [], 0.0
    for step in range(max(request.ends for request in requests) + 1):
        for at in [at for at in pieces if step >= requests[at].ends]:
            pool.free_request(at)
            del pieces[at]
        for at, request in enumerate(requests):
            if step == request.begins:
                pool.add_request(
                    at, next((donor for donor in pieces if donor == 0 or at != 1), None), request.shared_tokens
                )
                pieces[at] = _find_first_fit(sorted(pieces.values()), request.prompt + config.answer)
            new = tokens[at][pool.lengths.get(at, 0) : request.length(step)]
            copies += [(step, at) for token in new if pool.append_token(at, token)]
        max_difference = max(
            [max_difference, *(_attention_difference(vectors, pool.gather_tokens(at), tokens[at]) for at in pieces)]
        )
        tables.append({at: tuple(table) for at, table in pool.tables.items()})
        first, filled = pool.describe_blocks()
        by_block.append((first, pool.holders.copy()))
        room = sum(end - start for start, end in pieces.values())
        top = max((end for _start, end in pieces.values()), default=0)
        counts.append((filled.sum(), room, sum(pool.lengths.values()), top - room))
    blocks = 1 + max(number for table in tables for numbers in table.values() for number in numbers)
    owner, holders = np.array(by_block).swapaxes(0, 1)[..., :blocks]
    written, reserved, used, gaps = np.array(counts).T
    arrays = (owner, holders, written, reserved, used, gaps)
    return Result(config, requests, tuple(tables), *arrays, tuple(copies), max_difference)


def _number_tokens(config: Config, requests: tuple[PagedRequest, ...]) -> tuple[list[np.ndarray], torch.Tensor]:
    """Each request's tokens as numbers, those that it shares the first request's; and at random of each token the
    query's head, the key and the value, (3, G, tokens, D).
    """
    ends = np.cumsum([0, *(request.prompt + request.answer for request in requests)])
    token_ids = [np.arange(start, end) for start, end in pairwise(ends)]
    for request_ids, request in zip(token_ids, requests, strict=True):
        request_ids[: request.shared_tokens] = np.arange(request.shared_tokens)
    generator = torch.Generator().manual_seed(config.seed)
    return token_ids, torch.randn((3, KV_HEADS, int(ends[-1]), WIDTH), generator=generator)


def _attention_difference(vectors: torch.Tensor, gathered: np.ndarray, tokens: np.ndarray) -> float:
    """Largest difference between the newest token's attention over gathered blocks and over one piece."""
    contiguous = tokens[: len(gathered)]
    q = vectors[0, :, contiguous[-1:]].repeat_interleave(HEADS // KV_HEADS, 0)  # (H, 1, D)
    in_blocks, in_one_piece = (attend(q, *vectors[1:, :, indices]).output for indices in (gathered, contiguous))
    return float((in_blocks - in_one_piece).abs().max())


def _find_first_fit(taken: list[tuple[int, int]], width: int) -> tuple[int, int]:
    """First gap of this width between the pieces, or the end of them all, as (start, end)."""
    start = 0
    for begins, ends in taken:
        if begins - start >= width:
            break
        start = ends
    return start, start + width


def program(config: Config) -> str:
    """Program that prints bytes held and lost at the step with most reserved."""
    return f"""\
from attnviz.pages.fast.maths import paged

result = paged.run(paged.{config})
step = int(result.reserved.argmax())
print(f"step {{step}}: one piece each reserves {{result.reserved[step]}} tokens for {{result.used[step]}}")
print(f"blocks hold {{result.block_capacity[step]}} for {{result.written[step]}}")
print(f"attention over blocks and over one piece differ by {{result.max_difference:.0e}}")
for request, blocks in result.tables[step].items():
    print(f"request {{request + 1}}: blocks {{blocks}}")
"""
