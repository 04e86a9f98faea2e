"""Which exchanges are judged, and what chance each of them had.

Poisson sampling: an exchange is taken if its draw, a number from 0 to 1 that a keyed digest of it gives, is
below its chance. The draw is the same in every run, so a higher rate takes what a lower one took, and nobody
who writes to the log can choose it. The chance is known before the draw is looked at, so weights of
1 / chance make means unbiased (Horvitz and Thompson 1952).
"""

import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

DRAWS = 2**53


def draw_of(digest: bytes, key: bytes) -> float:
    """Return the draw of an exchange, at least 0 and below 1."""
    found = hashlib.blake2b(digest, digest_size=8, key=key, person=b"draw").digest()
    return (int.from_bytes(found, "big") >> 11) / DRAWS


def chances(
    strata: Sequence[Iterable[int]], counts: Mapping[int, int], *, rate: float, at_least: int
) -> list[float]:
    """Return the chance of each exchange of one day.

    strata: of each, its values of the tags by which the sample is spread. counts: how many exchanges of the
    day had each value before; these come to them first. An exchange has the rate, or, of a value that only N
    exchanges have so far, at_least / N if that is more: so at least that many are expected of each value.
    The chance rests on counts and never on draws.
    """
    seen = Counter(counts)
    for values in strata:
        seen.update(values)
    return [
        max([rate, *(min(1.0, at_least / seen[value]) for value in values)]) if at_least else rate
        for values in strata
    ]
