"""A cache in blocks, against a memory of tokens by name, against a strip of cells, and the section as it is used."""

from hypothesis import given, settings
from hypothesis import strategies as st

from attnviz.pages.fast.maths import paged
from tests.pages.conftest import charts, read, sound

CONFIGS = st.builds(
    paged.Config, st.integers(1, 9), st.integers(0, 20), st.integers(2, 7), st.integers(1, 20), st.integers(0, 99)
)


def token(result, request, place):
    """Whose token it is that a request has at a place: the same name is the same token."""
    prefix = result.requests[0].prompt if request == 1 else result.config.shared
    return (0 if place < prefix else request, place)


@given(CONFIGS)
@settings(max_examples=25, deadline=None)
def test_each_request_finds_its_own_tokens_and_no_place_holds_two(config):
    result = paged.run(config)
    for step, tables in enumerate(result.tables):
        there = {at for at, one in enumerate(result.requests) if one.begins <= step < one.ends}
        assert set(tables) == there
        memory = {}
        for at, blocks in tables.items():
            length = result.requests[at].length(step)
            assert len(blocks) == -(-length // config.block)
            for place in range(length):
                cell = (blocks[place // config.block], place % config.block)
                assert memory.setdefault(cell, token(result, at, place)) == token(result, at, place)
        assert result.written[step] == len(memory)
        first = {tuple(blocks[: config.shared // config.block]) for blocks in tables.values()}
        assert len(first) <= 1, "whole blocks of what all begin with lie in memory once"
        held = {number for blocks in tables.values() for number in blocks}
        assert result.block_capacity[step] == len(held) * config.block  # a block of one token loses nothing
        for number in range(result.owner.shape[1]):
            holding = [at for at, blocks in tables.items() if number in blocks]
            assert result.holders[step, number] == len(holding)
            assert result.owner[step, number] == min(holding, default=-1)
    assert result.max_difference <= 1e-6


def test_two_answers_to_one_question_share_until_one_of_them_writes():
    result = paged.run(paged.Config(shared=40, requests=2))
    assert result.requests[0].prompt == result.requests[1].prompt
    assert result.tables[0][0] == result.tables[0][1]
    assert result.tables[1][0][:-1] == result.tables[1][1][:-1] or result.requests[0].prompt % 16 == 0
    assert result.tables[1][0] != result.tables[1][1]
    assert len(result.copies) == (result.requests[0].prompt % 16 > 0)


def test_the_section_opens_where_most_is_reserved(visit):
    page = sound(visit("fast", fast_section="paged"))
    result = paged.run(paged.Config())
    step = int(result.reserved.argmax())
    assert page.slider(key="fast_step").value == step
    assert f"reserves **{result.reserved[step]}** tokens for {result.used[step]}" in read(page)
    assert f"Blocks hold **{result.block_capacity[step]}** for {result.written[step]}" in read(page)
    memory, table, lost = charts(page)
    assert [trace.get("name") for trace in memory["data"][1:]] == [f"request {n}" for n in range(1, 7)] + ["several"]
    assert len(lost["data"]) == 4
    assert sorted(map(int, table["data"][1]["text"])) == sorted(n for row in result.tables[step].values() for n in row)
