"""Pieces of texts as numbers: a text is cut where no word can go on, each different piece analysed once."""

import string
from collections import defaultdict
from collections.abc import Callable, Sequence
from itertools import count

import numpy as np
from numpy.typing import NDArray

_SPACE = ord(" ")

# Every ASCII character but these separates pieces. A comma may stand in a number, and <, = and > become
# other characters with the stroke U+0338 after them.
_KEPT = string.ascii_letters + string.digits + ",<=>"
_SEPARATE = bytes(
    code if code > 127 else ord(chr(code).lower()) if chr(code) in _KEPT else _SPACE for code in range(256)
)
_EIGHT = 8  # bytes that fit into one integer
_MASKS = np.array([(1 << 8 * length) - 1 for length in range(_EIGHT + 1)], dtype=np.uint64)
_WIDTHS = (1, 2, 4)  # integers that hold a piece: up to 8, 16 or 32 bytes
_MOST_SLOTS_LOG2 = 16  # a quarter as many as 2**18 take 5 % more time and 20 MB less
# Odd numbers; the high bits of a product depend on all bits of the integer (Knuth, TAOCP 3, 6.4).
_MULTIPLIERS = [0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9, 0xD6E8FEB86659FD93]

Integers = NDArray[np.uint64]
LookUp = Callable[[NDArray[np.int64]], Sequence[int]]
"""Positions of keys -> their numbers, one by one."""


class PieceTable:
    """Numbers of pieces. A piece is the UTF-8 of a part of a text between separators, ASCII in lower case.

    known: piece -> number, in their order; the number of a new one is the next. Most pieces never get
    there: those of up to 32 bytes are looked up together, by comparing them with the one piece that is kept
    at the slot of their hash.
    """

    def __init__(self, n_characters: int) -> None:
        """n_characters: of all texts, whatever is near; it decides how many slots are worth their memory."""
        self.known: dict[bytes, int] = defaultdict(count().__next__)
        self._slots = {width: KeySlots(width, n_characters >> 2) for width in _WIDTHS}

    def number(self, texts: Sequence[str]) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        """Return how many pieces each text has, and the number of each piece, text after text."""
        encoded = [text.encode("utf-8", "surrogatepass") for text in texts]
        joined = b" ".join([b"", *encoded, b" " * (_EIGHT * _WIDTHS[-1])]).translate(_SEPARATE)
        joined = joined.replace(b", ", b"  ")  # this comma stands in no number
        inside = np.frombuffer(joined, dtype=np.uint8) != _SPACE
        edges = np.flatnonzero(inside[1:] != inside[:-1]) + 1
        starts, ends = edges[::2], edges[1::2]
        text_ends = np.cumsum([len(text) + 1 for text in encoded], dtype=np.int64)
        counts = np.diff(np.searchsorted(starts, text_ends), prepend=0)

        def look_up(own: NDArray[np.int64]) -> list[int]:
            places = zip(starts[own].tolist(), ends[own].tolist(), strict=True)
            return [self.known[joined[start:end]] for start, end in places]

        numbers = np.empty(len(starts), dtype=np.int32)
        n_eights = (ends - starts + (_EIGHT - 1)) // _EIGHT
        # The 8 bytes from anywhere on as an integer, of which a piece has 0 beyond its end.
        anywhere: Integers = np.ndarray(len(joined) - _EIGHT + 1, dtype="<u8", buffer=joined, strides=(1,))
        narrower = 0
        for width, slots in self._slots.items():
            own = np.flatnonzero((n_eights > narrower) & (n_eights <= width))
            keys = [
                anywhere[starts[own] + at] & _MASKS[np.clip(ends[own] - starts[own] - at, 0, _EIGHT)]
                for at in range(0, _EIGHT * width, _EIGHT)
            ]
            numbers[own] = slots.number(keys, lambda missing, own=own: look_up(own[missing]))  # type: ignore[misc]
            narrower = width
        longer = np.flatnonzero(n_eights > narrower)
        numbers[longer] = look_up(longer)
        return counts, numbers


class KeySlots:
    """Keys -> numbers, at each slot the first key that came with its hash; others are looked up elsewhere."""

    def __init__(self, n_columns: int, n_slots: int) -> None:
        """A key is `n_columns` integers, the first of them not 0. n_slots: at least so many, up to 2**16."""
        log2 = min(_MOST_SLOTS_LOG2, max(1, n_slots.bit_length()))
        self._columns = [np.zeros(1 << log2, dtype=np.uint64) for _ in range(n_columns)]  # 0: free
        self._numbers = np.zeros(1 << log2, dtype=np.int32)
        self._shift = np.uint64(64 - log2)

    def number(self, keys: Sequence[Integers], look_up: LookUp) -> NDArray[np.int32]:
        """Return the number of each key, given by columns."""
        hashes = keys[0] * np.uint64(_MULTIPLIERS[0])
        for key, multiplier in zip(keys[1:], _MULTIPLIERS[1:], strict=False):
            hashes += key * np.uint64(multiplier)
        slots = (hashes >> self._shift).astype(np.intp)
        is_there = self._columns[0][slots] == keys[0]
        for column, key in zip(self._columns[1:], keys[1:], strict=True):
            is_there &= column[slots] == key
        numbers = self._numbers[slots]
        missing = np.flatnonzero(~is_there)
        numbers[missing] = look_up(missing)

        free = missing[self._columns[0][slots[missing]] == 0]
        taken, firsts = np.unique(slots[free], return_index=True)
        self._numbers[taken] = numbers[free[firsts]]
        for column, key in zip(self._columns, keys, strict=True):
            column[taken] = key[free[firsts]]
        return numbers
