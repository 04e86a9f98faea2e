"""Who gets which block, and what becomes of the blocks of a worker that is gone."""

import asyncio

import msgspec

from ragstone.engine.cluster.blocks import BlockMade, Blocks
from ragstone.engine.cluster.desk import Desk
from ragstone.llm import Caps


def blocks_of(n: int) -> Blocks[str]:
    blocks: Blocks[str] = Blocks()
    for number in range(n):
        blocks.feed(number, f"rows {number}")
    return blocks


async def test_blocks_are_handed_out_in_order_and_their_results_come_as_they_are_given():
    blocks = blocks_of(2)
    assert await blocks.take("a") == (0, "rows 0")
    assert await blocks.take("b") == (1, "rows 1")
    blocks.give(1, b"one")
    blocks.give(0, b"none")
    assert await blocks.results() == [b"one", b"none"]


async def test_the_blocks_of_a_worker_that_is_gone_are_the_next_that_are_handed_out():
    blocks = blocks_of(3)
    await blocks.take("a")
    await blocks.take("b")
    blocks.leave("a")
    assert await blocks.take("b") == (0, "rows 0")
    assert await blocks.take("b") == (2, "rows 2")


async def test_who_waits_for_a_block_is_given_that_of_a_worker_that_is_gone():
    blocks = blocks_of(1)
    await blocks.take("a")
    waiting = asyncio.create_task(blocks.take("b"))
    await asyncio.sleep(0)
    blocks.leave("a")
    assert await waiting == (0, "rows 0")


async def test_a_question_of_a_worker_that_is_gone_takes_no_block():
    blocks = blocks_of(0)
    asked = asyncio.create_task(blocks.take("a"))
    await asyncio.sleep(0)
    blocks.leave("a")
    blocks.feed(0, "rows 0")
    assert await asked is None
    assert await blocks.take("b") == (0, "rows 0")


async def test_the_first_result_of_a_block_counts():
    blocks = blocks_of(1)
    await blocks.take("a")
    blocks.leave("a")  # it was only slow
    blocks.give(0, b"from a")
    assert await blocks.results() == [b"from a"]
    waiting = asyncio.create_task(blocks.take("b"))
    blocks.give(0, b"from b")
    blocks.end()
    assert await waiting is None
    assert blocks._results == []


async def test_at_the_end_what_nobody_has_is_a_result_without_rows():
    blocks = blocks_of(2)
    await blocks.take("a")
    blocks.end()
    empty = msgspec.msgpack.encode(BlockMade(1, []))
    assert await blocks.results() == [empty]
    assert await blocks.take("b") is None
    blocks.leave("a")  # it died while it finished its block
    assert await blocks.results() == [msgspec.msgpack.encode(BlockMade(0, []))]


async def test_workers_on_a_node_that_is_gone_leave_their_blocks():
    desk = Desk(None, Caps())
    desk.join("a", "actor 1", "node 1")
    desk.join("b", "actor 2", "node 2")
    desk.blocks.feed(0, [])
    assert await desk.take("a") == (0, [])
    assert desk.living(["node 1", "node 2"]) == 2
    assert desk.living(["node 2"]) == 1
    assert await desk.take("b") == (0, [])


async def test_a_worker_of_the_stage_before_counts_no_more():
    desk = Desk(None, Caps())
    desk.join("a", "actor 1", "node 1")
    desk.begin(desk.spent())
    late = asyncio.create_task(desk.exchange("a", msgspec.msgpack.encode([])))
    await asyncio.sleep(0)
    assert desk.living(["node 1"]) == 0
    late.cancel()
