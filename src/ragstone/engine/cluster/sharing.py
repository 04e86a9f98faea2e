"""How a number of calls at once is shared among workers, so that together they never make more."""

from collections.abc import Mapping


def shares(wanted: Mapping[str, int], allowed: int) -> dict[str, int]:
    """Return how many of `allowed` each worker gets: none more than it wants, and otherwise alike.

    What does not divide goes to those who come first. Nothing is left while somebody wants more.
    """
    left, given = allowed, dict.fromkeys(wanted, 0)
    hungry = [name for name, n in wanted.items() if n > 0]
    while left > 0 and hungry:
        each, rest = divmod(left, len(hungry))
        for number, name in enumerate(hungry):
            most = each + (number < rest)
            taken = min(most, wanted[name] - given[name])
            given[name] += taken
            left -= taken
        hungry = [name for name in hungry if given[name] < wanted[name]]
    return given


class Share:
    """What one worker was told that it may use of an endpoint, and what it may therefore be using."""

    def __init__(self) -> None:
        self.wanted = 0
        self.last = 0  # what it was told last
        self._held = 0
        self._told: list[tuple[int, int]] = []  # number and slots of shares whose receipt is not known

    @property
    def used(self) -> int:
        """The most that the worker may be using at this moment."""
        return max([self._held, *(slots for _number, slots in self._told)])

    def tell(self, number: int, slots: int) -> None:
        """Note a share that is sent to the worker."""
        self.last = slots
        self._told.append((number, slots))

    def hear(self, wanted: int, held: int, heard: int) -> None:
        """Note what the worker says: after share number `heard`, it holds so many."""
        self.wanted, self._held = wanted, held
        self._told = [one for one in self._told if one[0] > heard]
