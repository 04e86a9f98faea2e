"""Short ways to write what judges and people say of several systems."""

from tests.support.label_rows import judgement, label

from ragstone.features.bench.judges._orders import JudgedSheet
from ragstone.kernel.agreement.pairing import human_scores

SYSTEMS = "abcdefgh"


def sheet_of(people, *, prefix="q", own_ids=False, **judges):
    """Return a sheet of systems a, b, ...: tables (questions, systems); None of a judge is unparsable."""
    systems = SYSTEMS[: len(people[0])]

    def name(at, system):
        return f"{prefix}{at}-{system}" if own_ids else f"{prefix}{at}"

    labels = [
        label(name(at, system), float(score), system=system, text=f"{prefix} question {at}")
        for at, row in enumerate(people)
        for system, score in zip(systems, row, strict=True)
    ]
    judged = {
        by: [
            judgement(
                name(at, system),
                None if score is None else float(score),
                system=system,
                judge=by,
                scale=(0, 100),
                status="unparsable" if score is None else "scored",
            )
            for at, row in enumerate(table)
            for system, score in zip(systems, row, strict=True)
        ]
        for by, table in judges.items()
    }
    return JudgedSheet(judged=judged, humans=human_scores(labels, "correctness"))
