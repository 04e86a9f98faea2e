"""Whose turn it is to make a call: no two workers pay for the same one."""

from collections import deque

Waiting = tuple[str, int]
"""A worker and the number of its question."""


class Claims:
    """Calls that are being made, by their content address, and who waits for them."""

    def __init__(self) -> None:
        self._owners: dict[bytes, str] = {}
        self._waiting: dict[bytes, deque[Waiting]] = {}

    def owner(self, key: bytes) -> str | None:
        """Return the worker that makes a call, None where nobody does."""
        return self._owners.get(key)

    def take(self, key: bytes, worker: str) -> None:
        """Make it the worker's turn."""
        self._owners[key] = worker

    def wait(self, key: bytes, waiting: Waiting) -> None:
        """Add a question to those that the response answers."""
        self._waiting.setdefault(key, deque()).append(waiting)

    def land(self, key: bytes) -> list[Waiting]:
        """Return who is to be given the response that is there now."""
        self._owners.pop(key, None)
        return list(self._waiting.pop(key, ()))

    def release(self, key: bytes, worker: str) -> Waiting | None:
        """End a turn that came to nothing; return whose it is now, None where nobody waits for it."""
        if self._owners.get(key) != worker:
            return None
        del self._owners[key]
        waiting = self._waiting.get(key)
        if not waiting:
            return None
        following = waiting.popleft()
        if not waiting:
            del self._waiting[key]
        self._owners[key] = following[0]
        return following

    def leave(self, worker: str) -> list[tuple[bytes, Waiting]]:
        """End all turns of a worker that is gone, and its questions; return whose turns they are now."""
        for key, waiting in list(self._waiting.items()):
            left = deque(one for one in waiting if one[0] != worker)
            if left:
                self._waiting[key] = left
            else:
                del self._waiting[key]
        given = (
            (key, self.release(key, worker)) for key, owner in list(self._owners.items()) if owner == worker
        )
        return [(key, following) for key, following in given if following is not None]
