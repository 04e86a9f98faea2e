"""The policy of labels: the version of the instructions that people had before them when they labelled."""

from collections import Counter
from collections.abc import Iterable

from ragstone.kernel.errors import DataError, nearest, plural
from ragstone.kernel.records import Label

NO_POLICY = "none"
"""What labels without a policy are chosen by."""


def policy_of(label: Label) -> str | None:
    """Return the digest of the instructions that a label was given under; None where it names none."""
    policy = (label.metadata or {}).get("policy")
    return str(policy) if policy else None


def policies_of(labels: Iterable[Label], metric: str | None = None) -> dict[str | None, int]:
    """Return digest of the instructions -> number of labels under them, the most frequent first.

    metric: of the labels that count; a label that names no metric speaks of any. None: all of them. The key
    None stands for labels that name no policy, as those of other tools and of queues without instructions.
    """
    counts = Counter(policy_of(label) for label in labels if metric is None or label.metric in (None, metric))
    return dict(counts.most_common())


def labels_under(labels: Iterable[Label], policy: str | None) -> list[Label]:
    """Return the labels given under one policy, in their order; all of them where None is asked for.

    policy: a digest, or `none` for the labels that name no policy. Raises DataError for one that no label
    has, naming those that there are.
    """
    rows = list(labels)
    if policy is None:
        return rows
    wanted = None if policy == NO_POLICY else policy
    chosen = [label for label in rows if policy_of(label) == wanted]
    if rows and not chosen:
        known = [name or NO_POLICY for name in policies_of(rows)]
        raise DataError(f"no label was given under policy {policy!r}. {nearest(policy, known)}")
    return chosen


def one_policy(labels: Iterable[Label], metric: str) -> str | None:
    """Return the digest of the instructions that all labels of a metric were given under; None where none is.

    None too where some labels name no policy: nobody knows what their annotators had read, so they do not
    count as another one. Raises DataError for labels under different instructions.
    """
    known = policies_of(labels, metric)
    counts = {policy: n for policy, n in known.items() if policy}
    if len(counts) > 1:
        named = ", ".join(f"{policy} ({plural(n, 'label')})" for policy, n in counts.items())
        raise DataError(
            f"the labels of {metric!r} were given under {len(counts)} different instructions: {named}. They "
            "may measure different things. Choose one: `--policy DIGEST` of `ragstone agree` or `compare` "
            "(policy= in Python), or keep the labels of one in the file."
        )
    return None if len(known) != 1 else next(iter(known))


AGAIN = "again"
"""The field of a label's metadata that says that its answer was chosen to be labelled again."""


CHOSEN = "chosen"
"""The field of a label's metadata that says how its answer was chosen: the filter, or BY_HAND."""
BY_HAND = "by hand"


def check_sample(labels: Iterable[Label]) -> None:
    """Check that no answer was chosen, or labelled again because grades differed on it. Raises DataError."""
    rows = list(labels)
    n = sum(bool((label.metadata or {}).get(CHOSEN)) for label in rows)
    if n:
        raise DataError(
            f"{n:,} label{'s are' if n > 1 else ' is'} for answers chosen by a filter or by hand (column "
            f"{CHOSEN!r}), not a sample of all answers: means and agreement would describe that choice. "
            "Leave them out here, and label answers drawn by `ragstone label`."
        )
    n = sum(bool((label.metadata or {}).get(AGAIN)) for label in rows)
    if n:
        raise DataError(
            f"{n:,} label{'s are' if n > 1 else ' is'} for answers that were labelled again because grades "
            f"differed (column {AGAIN!r}), not a sample of all answers. Leave them out here; `ragstone "
            "agree --again FILE` says how many flipped."
        )


def mixed_policy_note(labels: Iterable[Label]) -> list[str]:
    """Return a note where some of the labels name a policy and others none; else nothing."""
    counts = policies_of(labels)
    bare = counts.pop(None, 0)
    if not bare or not counts:
        return []
    n = sum(counts.values())
    return [
        f"{n:,} of the {n + bare:,} labels name{'s' if n == 1 else ''} the instructions that they were given "
        f"under ({', '.join(map(str, counts))}), and {bare:,} name{'s' if bare == 1 else ''} none: they may "
        "measure something else."
    ]


VOLUNTARY = "voluntary"
"""The field of a label's metadata that says that whoever gave it chose the answer: a user's thumb."""


def without_voluntary(labels: Iterable[Label]) -> list[Label]:
    """Return the labels of answers that their annotators did not choose: means follow from these alone."""
    return [label for label in labels if not (label.metadata or {}).get(VOLUNTARY)]


def voluntary_note(labels: Iterable[Label]) -> list[str]:
    """Return a note where some of the labels are of answers that their annotators chose; else nothing."""
    rows = list(labels)
    n = len(rows) - len(without_voluntary(rows))
    if not n:
        return []
    return [
        f"{n:,} of the {len(rows):,} labels {'is' if n == 1 else 'are'} of answers on which users decided "
        "themselves to give feedback: agreement is for such answers, and these labels correct no mean."
    ]
