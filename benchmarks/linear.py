"""Time of every pattern, and of every routine that takes text from outside, on hostile texts of 8 to 128 KB.

    python -m benchmarks.linear [ROUTINES]

Each pattern on texts made from its own parts, each routine on all of ATOMS x ENDINGS (or those whose name
holds an argument); the slowest at 2 KB are timed at 8, 32 and 128 KB. Some 12 minutes on one core.
"""

import sys

from tests.support.linear import ENDINGS, GROWTH, SIZES, Growth, call_of, hostile, patterns, worst
from tests.support.outside import ATOMS, BOUNDED, ROUTINES, built

SLOWEST = 3


def shown(name: str, parts: tuple[str, str, str], growth: Growth) -> str:
    times = "  ".join(f"{1000 * seconds:7.1f}" for seconds in growth.seconds)
    text = f"{parts[0][:12]}{parts[1][:12]!r} * n{f' + {parts[2]!r}' if parts[2] else ''}"
    grown = growth.seconds[-1] / growth.seconds[0] / (SIZES[-1] / SIZES[0]) if len(growth.seconds) == 3 else 0
    return f"{name:44} {times}  {grown:5.2f}  {text}  {growth.fault or ''}"


def main() -> None:
    asked = sys.argv[1:]
    found = [one for one in patterns() if one.pattern is not None]
    found += built()
    distinct = {(one.pattern, one.methods): one for one in found} if not asked else {}
    n_texts = faults = 0
    print(f"{'':44} {'8 KB':>7}  {'32 KB':>7}  {'128 KB':>7}  times linear")
    for one in distinct.values():
        assert one.pattern is not None
        texts = hostile(one.pattern, 150)
        n_texts += len(texts)
        for parts, growth in worst(
            call_of(one), texts, SLOWEST, as_bytes=isinstance(one.pattern.pattern, bytes)
        ):
            if growth.fault:
                faults += 1
                print(shown(one.place, parts, growth))
    print(f"{len(distinct)} patterns x {n_texts} texts: {faults} grow faster than allowed or take too long")
    n_texts = faults = 0
    for name, call in ROUTINES.items():
        if asked and not any(one in name for one in asked):
            continue
        texts = [("", atom, ending) for atom in ATOMS for ending in ENDINGS]
        n_texts += len(texts)
        grown = list(worst(call, texts, SLOWEST, growth=BOUNDED.get(name, GROWTH)))
        faults += sum(growth.fault is not None for _, growth in grown)
        parts, growth = max(grown, key=lambda one: (one[1].fault is not None, max(one[1].seconds)))
        print(shown(name, parts, growth), flush=True)
    print(f"{n_texts} texts through the routines: {faults} faults")


if __name__ == "__main__":
    main()
