"""What a reader must know before trusting an evaluation set, in plain sentences, the gravest first."""

import math
from collections.abc import Sequence

from ragstone.features.build.certificate._coverage import FIFTHS
from ragstone.features.build.certificate.funnel import n_lost, n_of
from ragstone.kernel.config import BuildSection
from ragstone.kernel.dataset.certificate import FILTER, ClosedBookRate, Coverage, CriticVerdict, Funnel
from ragstone.kernel.errors import plural
from ragstone.kernel.records import status_counts

FEW = 30  # questions, below which a mean over them says little
COVERED = 0.5  # of the documents with text, below which a set speaks of a part of the corpus only
ONE_GIVES = 1 / 3  # of the questions, from which on one document of at least MANY weighs too much
MANY = 6
MOST = 3  # reasons that are told, of those that cost most
KNOWN = 0.2  # of the accepted questions, from which on a set tests memory
FAILED = 0.05  # calls without a result, of the questions asked for
FOREIGN = 0.1  # of what was written, in another language than its document
BALANCED = 1 / 3  # of the facts: the least share of the true, and of the false where there are any
FIFTH_WORDS = ("the first fifth", "the second fifth", "the middle", "the fourth fifth", "the last fifth")


def cautions_of(
    kind: str,
    declared: BuildSection,
    funnel: Funnel,
    coverage: Coverage,
    known: ClosedBookRate | None,
    critics: Sequence[CriticVerdict],
) -> list[str]:
    """Return what speaks against trusting the set; empty where nothing does."""
    if not funnel.n_accepted:
        return [_nothing(kind, funnel)]
    noun = noun_of(kind)
    return [
        *_short("true fact" if kind == "facts" else noun, funnel),
        *(_styles_short(declared, coverage) if kind == "questions" else []),
        *(_critics(declared, critics) if kind == "questions" else []),
        *_failed_calls(funnel, often=True),
        *_foreign(funnel, often=True),
        *_covered(noun, funnel, coverage),
        *_known(funnel, known),
        *_crowded(noun, coverage),
        *_unbalanced(funnel, coverage),
        *_few(noun, funnel),
    ]


def remarks_about(kind: str, declared: BuildSection, funnel: Funnel, coverage: Coverage) -> list[str]:
    """Return what is good to know of the set, and speaks neither for nor against it."""
    noun, remarks = noun_of(kind), []
    if funnel.n_empty:
        have = "has" if funnel.n_empty == 1 else "have"
        remarks.append(f"{plural(funnel.n_empty, 'document')} {have} no text and gave nothing.")
    if funnel.n_split:
        remarks.append(
            f"{plural(funnel.n_split, 'document')} longer than {declared.passage:,} characters: the model "
            f"was shown one passage at a time, so no {noun} rests on a whole document."
        )
    remarks += _failed_calls(funnel, often=False) + _foreign(funnel, often=False)
    fuzzy = coverage.found.get("fuzzy", 0)
    if fuzzy:
        remarks.append(
            f"The evidence of {plural(fuzzy, f'accepted {noun}')} is not quoted word for word: it is the "
            "most similar place in the document."
        )
    if kind == "facts" and funnel.n_accepted and not _n_false(coverage):
        remarks.append(
            "Every fact is true: an application that agrees with everything is right on all of them."
        )
    spare = n_of(funnel, "beyond_count")
    if spare:
        were = "was" if spare == 1 else "were"
        remarks.append(f"{plural(spare, f'good {noun}')} {were} left out: more than were asked for.")
    return remarks


def noun_of(kind: str) -> str:
    """Return what one of the set is called: `question` or `fact`."""
    return "fact" if kind == "facts" else "question"


def _nothing(kind: str, funnel: Funnel) -> str:
    n_failed = sum(funnel.failed_calls.values())
    failed = f"{plural(n_failed, 'call')} gave nothing ({status_counts(funnel.failed_calls)})"
    if not funnel.n_documents:
        why = "no document was given"
    elif funnel.n_empty == funnel.n_documents:
        why = "no document has text"
    elif not funnel.n_asked:
        why = f"no {noun_of(kind)} was asked for"
    elif funnel.losses:
        n = funnel.n_written
        all_of = "the one that was written was" if n == 1 else f"all {n:,} that were written were"
        why = f"{all_of} lost: {why_lost(funnel)}" + (f"; {failed}" if n_failed else "")
    elif n_failed:
        why = failed
    else:
        why = f"the model was asked for {funnel.n_asked:,} and wrote none"
    return f"There is no evaluation set: no {noun_of(kind)} was accepted, because {why}."


def why_lost(funnel: Funnel) -> str:
    """Return `135 (a critic gave it less than the threshold), 22 (...)`, empty where nothing was lost."""
    most = sorted(funnel.losses, key=lambda lost: -lost.n)[:MOST]
    reasons = [f"{lost.n:,} ({lost.words})" for lost in most]
    n_others = n_lost(funnel) - sum(lost.n for lost in most)
    return ", ".join([*reasons, *([f"{n_others:,} (other reasons)"] if n_others else [])])


def _short(noun: str, funnel: Funnel) -> list[str]:
    if not funnel.n_short:
        return []
    wanted = funnel.n_wanted or 0
    n = wanted - funnel.n_short
    why = f" Lost: {why_lost(funnel)}." if funnel.losses else ""
    return [
        f"{n:,} of the {plural(wanted, noun)} wanted, {funnel.n_short:,} short: {funnel.n_asked:,} were "
        f"asked for and {funnel.n_written:,} written.{why}"
    ]


def _styles_short(declared: BuildSection, coverage: Coverage) -> list[str]:
    """Return which kinds of question, of those that were asked for by number, are fewer."""
    has = {group.value: group.n_accepted for group in coverage.groups.get("style", [])}
    wanted = {
        "negative": (declared.negatives, "unanswerable question"),
        "multi_hop": (declared.multi_hop, "multi-hop question"),
    }
    return [
        f"{plural(n, noun)} {'was' if n == 1 else 'were'} asked for: the set has {has.get(style) or 'none'}."
        for style, (n, noun) in wanted.items()
        if has.get(style, 0) < n
    ]


def _critics(declared: BuildSection, critics: Sequence[CriticVerdict]) -> list[str]:
    if not declared.critics:
        return ["No critic read the questions: they passed only the checks without a model."]
    if all(critic.grade is None for critic in critics):
        return [
            "The critics were not measured on planted defects, so it is unknown whether they tell good "
            "questions from bad ones."
        ]
    return _doubted(critics)


def _doubted(critics: Sequence[CriticVerdict]) -> list[str]:
    """Return what is to be said against critics.

    Where all together are good, one of them that was tried on too few defects is not spoken of.
    """
    good = any(verdict.critic == FILTER and verdict.grade == "good" for verdict in critics)
    doubts = []
    for verdict in critics:
        useless = (
            verdict.measured.n_caught * verdict.measured.n_sound
            <= verdict.measured.n_rejected * verdict.measured.n_defects
        )
        if verdict.critic == FILTER and verdict.grade in ("partial", "chance"):
            doubts.append(f"All critics together: {verdict.words}.")
        elif verdict.critic != FILTER and verdict.grade == "chance" and (useless or not good):
            doubts.append(f"The critic {verdict.critic}: {verdict.words}.")
    return doubts


def _failed_calls(funnel: Funnel, *, often: bool) -> list[str]:
    n = sum(funnel.failed_calls.values())
    if not n or (n >= FAILED * funnel.n_asked) != often:
        return []
    return [
        f"{plural(n, 'call')} gave nothing ({status_counts(funnel.failed_calls)}): what they were to ask "
        "is missing."
    ]


def _foreign(funnel: Funnel, *, often: bool) -> list[str]:
    n = n_of(funnel, "wrong_language")
    if not n or (n >= FOREIGN * funnel.n_written) != often:
        return []
    return [
        f"{n:,} of {funnel.n_written:,} written were in a different language from their document and were "
        "rejected: the model may not write that language well."
    ]


def _covered(noun: str, funnel: Funnel, coverage: Coverage) -> list[str]:
    cautions = []
    n_documents = funnel.n_documents - funnel.n_empty
    if coverage.n_covered < COVERED * n_documents:
        cautions.append(
            f"{coverage.n_covered:,} of {plural(n_documents, 'document')} with text are asked about: the "
            "set says nothing about the others."
        )
    if (
        coverage.most
        and n_documents >= MANY
        and funnel.n_accepted > 1
        and coverage.most[1] > ONE_GIVES * funnel.n_accepted
    ):
        name, n = coverage.most
        cautions.append(f"{n:,} of {plural(funnel.n_accepted, noun)} come from one document, {name}.")
    return cautions


def _known(funnel: Funnel, known: ClosedBookRate | None) -> list[str]:
    if not known or known.n_accepted_known < KNOWN * funnel.n_accepted:
        return []
    return [
        f"The model answers {known.n_accepted_known:,} of {plural(funnel.n_accepted, 'accepted question')} "
        "without any document: on those, an application's score says little about its retrieval."
    ]


def _crowded(noun: str, coverage: Coverage) -> list[str]:
    positions = coverage.positions
    if positions.crowded is None:
        return []
    fifth, n = FIFTH_WORDS[positions.crowded - 1], positions.fifths[positions.crowded - 1]
    lost = " Text further down is hardly tested." if positions.crowded == 1 else ""
    return [
        f"{100 * n / sum(positions.fifths):.0f} % of the {noun}s rest on {fifth} of their document, where "
        f"{100 / FIFTHS:.0f} % would be even.{lost}"
    ]


def _unbalanced(funnel: Funnel, coverage: Coverage) -> list[str]:
    n_false = _n_false(coverage)
    if not n_false or BALANCED <= n_false / funnel.n_accepted <= 1 - BALANCED:
        return []
    more, n = ("false", n_false) if 2 * n_false > funnel.n_accepted else ("true", funnel.n_accepted - n_false)
    return [
        f"{n:,} of {plural(funnel.n_accepted, 'fact')} are {more}: always answering {more} is right on "
        f"{100 * n / funnel.n_accepted:.0f} %. Read precision and recall with the accuracy."
    ]


def _n_false(coverage: Coverage) -> int:
    return sum(group.n_accepted for group in coverage.groups.get("kind", []) if group.value == "false")


def _few(noun: str, funnel: Funnel) -> list[str]:
    if funnel.n_accepted >= FEW:
        return []
    single = funnel.n_accepted == 1
    points = 100 * 1.96 * math.sqrt(0.25 / funnel.n_accepted)
    return [
        f"{plural(funnel.n_accepted, noun)} {'is' if single else 'are'} few: a share of one half measured "
        f"on {'it' if single else 'them'} is uncertain by about {min(50, points):.0f} points either way."
    ]
