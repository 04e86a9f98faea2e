import asyncio

import pytest

from ragstone.kernel.engine.local import WINDOW, map_in_order, run_sync


async def collected(work, rows):
    return [row async for row in map_in_order(work, rows)]


async def test_results_come_in_the_order_of_the_rows_whatever_order_they_finish_in():
    async def work(row):
        await asyncio.sleep((5 - row) * 0.002)
        return row * 10

    assert await collected(work, range(5)) == [0, 10, 20, 30, 40]


async def test_rows_are_read_as_they_are_needed():
    read = []

    def rows():
        for row in range(3 * WINDOW):
            read.append(row)
            yield row

    async def work(row):
        return row

    results = map_in_order(work, rows())
    await anext(results)
    assert len(read) <= WINDOW
    await results.aclose()


async def test_the_first_error_cancels_what_is_under_way():
    cancelled = []

    async def work(row):
        if row == 1:
            raise RuntimeError("broken")
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            cancelled.append(row)
            raise

    async def first(row):
        return row if row == 0 else await work(row)

    with pytest.raises(RuntimeError, match="broken"):
        await collected(first, range(4))
    assert cancelled == [2, 3]


async def cancelled_when(begun, work, rows, stop=lambda: None):
    """Cancel the collecting at an event; return what it had got by the end."""
    got = []

    async def collect():
        async for row in map_in_order(work, rows, stop):
            got.append(row)  # noqa: PERF401 - what came before the cancellation is what is looked at

    task = asyncio.create_task(collect())
    await begun.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    return got


async def test_cancelled_it_begins_no_row_and_waits_for_those_under_way():
    begun, all_begun, stopped = [], asyncio.Event(), asyncio.Event()

    def rows():
        for row in range(10 * WINDOW):
            begun.append(row)
            yield row

    async def work(row):
        if row == WINDOW - 1:
            all_begun.set()
        await stopped.wait()
        return row

    assert await cancelled_when(all_begun, work, rows(), stopped.set) == list(range(WINDOW))
    assert len(begun) == WINDOW


@pytest.mark.simulation
async def test_cancelled_rows_that_do_not_finish_are_left_out_and_the_others_stay_in_order():
    begun, stopped = asyncio.Event(), asyncio.Event()

    async def work(row):
        if row == 4:
            begun.set()
        if row == 1:
            await asyncio.sleep(3600)
        await stopped.wait()
        if row == 3:
            raise RuntimeError("no call was made")
        await asyncio.sleep((5 - row) * 0.01)
        return row

    assert await cancelled_when(begun, work, range(5), stopped.set) == [0, 2, 4]


async def double(number):
    await asyncio.sleep(0)
    return 2 * number


def test_run_sync_works_in_a_script():
    assert run_sync(double(2)) == 4


async def test_run_sync_works_where_a_loop_is_running_as_in_a_notebook():
    assert run_sync(double(2)) == 4
