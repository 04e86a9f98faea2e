"""A worker's channel ends when it is closed, whatever it was about to say."""

from ragstone.kernel.engine.cluster._channel import Channel
from ragstone.kernel.engine.cluster._coordinator import Call


async def exchange(calls: list[Call]) -> list[object]:
    return [None] * len(calls)


def test_closed_in_the_moment_in_which_it_is_woken_it_ends():
    channel = Channel(exchange, lambda: None)

    def wake_and_stop() -> None:
        channel._woken.set()
        channel._loop.call_soon(channel._loop.stop)

    channel._loop.call_later(0.01, wake_and_stop)
    channel.start()
    channel._thread.join(10)
    assert not channel._thread.is_alive()
