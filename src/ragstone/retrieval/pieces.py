"""Texts -> the pieces that they are made of, as numbers, so that what is done to a piece is done once.

The search terms of a text are the search terms of its pieces, one after the other (a test holds this); a
corpus of 4,000,000 words has some 130,000 different pieces.
"""

import string
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

_SPACE = ord(" ")
# Every ASCII character but these separates pieces. A comma may stand in a number, and <, = and > become
# other characters with the stroke U+0338 after them.
_KEPT = string.ascii_letters + string.digits + ",<=>"
_SEPARATE = bytes(
    code if code > 127 else ord(chr(code).lower()) if chr(code) in _KEPT else _SPACE for code in range(256)
)
_SHORT = 8  # bytes that fit into one integer
_MASKS = np.array([(1 << 8 * length) - 1 for length in range(_SHORT + 1)], dtype="<u8")


def number_pieces(
    texts: Sequence[str], known: dict[bytes, int]
) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Return how many pieces each text has, and the number of each piece, text after text.

    known: the pieces of earlier texts; it gives a new piece the next number (a defaultdict that counts).
    A piece is the UTF-8 of a part of a text between separators, ASCII letters in lower case.
    """
    encoded = [text.encode("utf-8", "surrogatepass") for text in texts]
    joined = b" ".join([b"", *encoded, b" " * _SHORT]).translate(_SEPARATE)
    joined = joined.replace(b", ", b"  ")  # this comma stands in no number
    codes = np.frombuffer(joined, dtype=np.uint8)
    inside = codes != _SPACE
    edges = np.flatnonzero(inside[1:] != inside[:-1]) + 1
    starts, lengths = edges[::2], edges[1::2] - edges[::2]
    text_ends = np.cumsum([len(text) + 1 for text in encoded], dtype=np.int64)
    counts = np.diff(np.searchsorted(starts, text_ends), prepend=0)

    numbers = np.empty(len(starts), dtype=np.int32)
    is_short = lengths <= _SHORT
    numbers[is_short] = _number_short(codes, starts[is_short], lengths[is_short], known)
    longer = zip(starts[~is_short].tolist(), (starts + lengths)[~is_short].tolist(), strict=True)
    numbers[~is_short] = [known[joined[start:end]] for start, end in longer]
    return counts, numbers


def _number_short(
    codes: NDArray[np.uint8], starts: NDArray[np.int64], lengths: NDArray[np.int64], known: dict[bytes, int]
) -> NDArray[np.int32]:
    """Return the numbers of pieces of at most 8 bytes: read as integers, sorted, each looked up once."""
    eights = np.lib.stride_tricks.sliding_window_view(codes, _SHORT)
    keys = eights[starts].view("<u8")[:, 0] & _MASKS[lengths]
    distinct, places = np.unique(keys, return_inverse=True)
    looked_up = [known[piece] for piece in distinct.view("S8").tolist()]
    return np.array(looked_up, dtype=np.int32)[places]
