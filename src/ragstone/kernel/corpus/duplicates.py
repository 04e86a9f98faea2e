"""Documents that repeat an earlier one: the same words, or nearly all of the same text."""

import hashlib
import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from ragstone.kernel.records import Document

# In a bank's 1,764 answers, two thirds of the 44 near pairs above 0.95 differ by punctuation, a spelling or
# "View more", the others by a product's name; below, names are the rule. To drop an answer that is not said
# elsewhere is worse than to keep a repetition, which costs one place in a ranking.
NEAR = 0.95
SHINGLE = 5  # characters, so that scripts without spaces are compared as well
SHORTEST = 60  # shingles: in a shorter text one other word is less than NEAR
BINS, BANDS = 64, 8
LIKELY = 0.84  # the share of equal bins that pairs of NEAR have in 999 of 1,000 cases (4 standard deviations)
# A family of thousands of pages from one template must not take the square of its size.
COMPARED = 4  # of the likely ones, the likeliest first
BUCKET = 200  # texts of a bucket that are looked at, the first ones

_WORDS = re.compile(r"\w+")
_DIGITS = re.compile(r"\d")
_FACTOR = np.uint64(0x9E3779B97F4A7C15)  # 2 ** 64 / golden ratio, as in Knuth's multiplicative hashing
_SHIFT = np.uint64(29)
_STARTS = np.arange(BINS, dtype=np.uint64) << np.uint64(58)

Hashes = NDArray[np.uint64]


class Duplicate(msgspec.Struct, frozen=True):
    """A document, the earlier one that it repeats, and how similar they are: 1 for the same words."""

    id: str
    of: str
    similarity: float


def find_duplicates(documents: Sequence[Document]) -> list[Duplicate]:
    """Return the documents that repeat an earlier one that repeats none, in order.

    Exact: the same words in the same order, in whatever case and punctuation. Near: at least NEAR of the
    shingles of both texts are in both (Jaccard), and the digits are the same, since texts that differ by an
    amount or a date differ in what they say. Near ones are found by one-permutation MinHash (Li, Owen and
    Zhang 2012) and compared in full; a few of 1,000 are missed. Titles and metadata do not count.
    """
    first: dict[bytes, int] = {}
    near = _Near()
    duplicates = []
    for number, document in enumerate(documents):
        words = _WORDS.findall(unicodedata.normalize("NFKC", document.text).casefold())
        text = " ".join(words) or document.text
        digest = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()
        earlier = first.setdefault(digest, number)
        similarity = 1.0
        if earlier == number:
            earlier, similarity = near.add(number, text)
        if earlier != number:
            duplicates.append(Duplicate(document.id, documents[earlier].id, round(similarity, 4)))
    return duplicates


def drop_duplicates(documents: Iterable[Document], duplicates: Iterable[Duplicate]) -> list[Document]:
    """Return the documents without the duplicates, whose ids stand in `metadata["duplicates"]` of the others.

    So a question that names a dropped document can still be answered by the one that was kept.
    """
    dropped: dict[str, list[str]] = defaultdict(list)
    for duplicate in duplicates:
        dropped[duplicate.of].append(duplicate.id)
    gone = {name for names in dropped.values() for name in names}
    left = []
    for document in documents:
        if document.id in dropped:
            metadata: dict[str, Any] = dict(document.metadata or {})
            before = metadata.get("duplicates")
            names = dropped[document.id]
            metadata["duplicates"] = [*(before if isinstance(before, list) else ()), *names]
            document = msgspec.structs.replace(document, metadata=metadata)
        if document.id not in gone:
            left.append(document)
    return left


class _Near:
    """The texts so far that repeat none, by the bands of their sketches."""

    def __init__(self) -> None:
        self._numbers: list[int] = []
        self._texts: list[str] = []
        self._digits: list[str] = []
        self._sketches = np.empty((0, BINS), np.uint64)
        self._buckets: dict[tuple[int, int], list[int]] = defaultdict(list)

    def add(self, number: int, text: str) -> tuple[int, float]:
        """Return the earlier text that a text nearly repeats, and their similarity; else itself and 1."""
        hashes = _shingles(text)
        if len(hashes) < SHORTEST:
            return number, 1.0
        # The smallest hash of each bin, the first of the next one where a bin is empty.
        sketch: Hashes = hashes[np.searchsorted(hashes, _STARTS) % len(hashes)]
        bands = [(band, key) for band, key in enumerate(_band_keys(sketch))]
        similarity, rank = max(self._similar(text, hashes, sketch, bands), default=(0.0, 0))
        if similarity >= NEAR:
            return self._numbers[-rank], similarity
        self._keep(number, text, sketch, bands)
        return number, 1.0

    def _similar(
        self, text: str, hashes: Hashes, sketch: Hashes, bands: Sequence[tuple[int, int]]
    ) -> Iterable[tuple[float, int]]:
        """Yield the similarity of likely texts, each with its place as a negative number: the first wins."""
        places = sorted({number for band in bands for number in self._buckets.get(band, ())})
        if not places:
            return
        likeness = np.mean(self._sketches[places] == sketch, axis=1)
        for at in np.argsort(-likeness, kind="stable")[:COMPARED]:
            if likeness[at] >= LIKELY and self._digits[places[at]] == _digits(text):
                yield _jaccard(hashes, _shingles(self._texts[places[at]])), -places[at]

    def _keep(self, number: int, text: str, sketch: Hashes, bands: Sequence[tuple[int, int]]) -> None:
        at = len(self._numbers)
        if at == len(self._sketches):
            more = np.empty((max(1024, at), BINS), np.uint64)
            self._sketches = np.concatenate([self._sketches, more])
        self._sketches[at] = sketch
        self._numbers.append(number)
        self._texts.append(text)
        self._digits.append(_digits(text))
        for band in bands:
            if len(self._buckets[band]) < BUCKET:
                self._buckets[band].append(at)


def _digits(text: str) -> str:
    return "".join(_DIGITS.findall(text))


def _shingles(text: str) -> Hashes:
    """Return the hashes of a text's shingles, sorted; one that occurs twice is there twice."""
    codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32).astype(np.uint64)
    n_shingles = max(len(codes) - SHINGLE + 1, 0)
    hashes = np.zeros(n_shingles, np.uint64)
    for offset in range(SHINGLE):
        hashes = (hashes ^ codes[offset : offset + n_shingles]) * _FACTOR
        hashes ^= hashes >> _SHIFT
    hashes *= _FACTOR
    hashes.sort()
    return hashes


def _band_keys(sketch: Hashes) -> list[int]:
    rows = sketch.reshape(BANDS, BINS // BANDS)
    keys = rows[:, 0]
    for column in range(1, rows.shape[1]):
        keys = (keys ^ (keys >> _SHIFT)) * _FACTOR + rows[:, column]
    listed: list[int] = keys.tolist()
    return listed


def _jaccard(hashes: Hashes, others: Hashes) -> float:
    own, other = np.unique(hashes), np.unique(others)
    n_shared = len(np.intersect1d(own, other, assume_unique=True))
    return n_shared / (len(own) + len(other) - n_shared)
