"""What a certificate, and a review of its questions by people, say in sentences."""

import msgspec

from ragstone.features.build.certificate._cautions import noun_of, why_lost
from ragstone.features.build.certificate.funnel import n_lost
from ragstone.kernel.dataset.candidate import REJECTIONS, Step
from ragstone.kernel.dataset.certificate import (
    FILTER,
    Certificate,
    CriticAgreement,
    CriticVerdict,
    Fit,
    Five,
    Grade,
    Group,
    ReviewNumbers,
)
from ragstone.kernel.document.numbers import count, interval, number, people, percent, percent_range, usd
from ragstone.kernel.errors import plural
from ragstone.kernel.records import status_counts

STEPS: dict[Step, str] = {
    "write": "with evidence, in the right language",
    "check": "left by the checks without a model",
    "criticise": "left by the critics",
    "closed_book": "not known without a document",
    "count": "as many as were wanted",
    "review": "left by people",
}
WRITTEN_FACTS = "found in the document, rightly changed"
GRADES: dict[Grade, str] = {"good": "good", "partial": "partly good", "chance": "not to be trusted"}
GROUPED = {
    "kind": "Kind",
    "style": "Style",
    "level": "Level of Bloom's taxonomy",
    "persona": "Who asks",
    "change": "What was changed",
    "topic": "Topic",
    "lang": "Language",
}
FOUND = {"exact": "word for word", "spaced": "except for spaces", "fuzzy": "most similar place"}
FIFTHS = ("first fifth", "second", "middle", "fourth", "last fifth")
# What to do about a reason that costs a quarter of all that was written, or more.
OFTEN = 0.25
MOST_VALUES = 12  # of a topic, style or language that the page shows
ADVICE = {
    "no_evidence": "The model often does not quote the document: a larger one quotes more faithfully.",
    "wrong_language": "The model often leaves the document's language: use one that writes it well.",
    "mentions_context": 'Many questions refer to "the passage": a larger model does this less often.',
    "duplicate": "Many questions repeat others: ask for fewer per document, or in more styles.",
    "near_duplicate": "Many questions nearly repeat others: ask for fewer per document, or more styles.",
    "low_score": "The critics reject much: read what they rejected. Is the writer weak, or are they too "
    "strict?",
    "not_criticised": "Many lack a critic's score; each has its reason. Use a larger model, a larger budget "
    "or a later deadline.",
    "known_by_heart": "The model answers many questions without a document: build the fictional variant.",
}
DOCTOR = "Calls fail: `ragstone doctor` says whether the model answers."
FAILED_ADVICE = {
    "unparsable": "The model does not reply in the requested format: use a larger one, or one made for JSON.",
    "refused": "The model refuses to write about these documents: use another one.",
    "over_budget": "The budget ended before the build: raise it and run the same command again.",
}


class Bar(msgspec.Struct, frozen=True):
    """A line of the funnel: how many are left after a step, and how many the step lost."""

    label: str
    n: int
    n_lost: int


def headline(certificate: Certificate) -> str:
    """Return how many questions there are, and of how many documents."""
    funnel, noun = certificate.funnel, noun_of(certificate.kind)
    of = plural(funnel.n_documents, "document")
    if not funnel.n_accepted:
        return f"No {noun} from {of}"
    return f"{plural(funnel.n_accepted, noun)} from {count(certificate.coverage.n_covered)} of {of}"


def what_was_lost(certificate: Certificate) -> str:
    """Return how many were asked for, tried, written and lost, and why most of them were."""
    funnel = certificate.funnel
    n = n_lost(funnel)
    wanted = f"Asked for {count(funnel.n_wanted)}, tried" if funnel.n_wanted else "Tried"
    text = f"{wanted} {count(funnel.n_asked)}: {count(funnel.n_written)} written, {count(n)} lost"
    return text + (f". Lost: {why_lost(funnel)}." if n else ".")


def trust_question(certificate: Certificate) -> str:
    """Return the question that `trust` answers."""
    return f"Can the {'facts' if certificate.kind == 'facts' else 'critics'} be trusted?"


def trust(certificate: Certificate) -> str:
    """Return whether the critics can be trusted, in a sentence."""
    lead = leading(certificate)
    if lead:
        who = "All critics together" if lead.critic == FILTER else f"The critic {lead.critic}"
        grade = f" ({GRADES[lead.grade]})" if lead.grade else ""
        return f"{who}{grade}: {lead.words}."
    if certificate.kind == "facts":
        return "Critics do not read statements: check ten against their passages yourself."
    if not certificate.declared.critics:
        return "No critic read the questions."
    return "No defects were planted to test the critics, so they were not measured."


def leading(certificate: Certificate) -> CriticVerdict | None:
    """Return the verdict that speaks for all critics, None where they were not measured."""
    return next(iter(certificate.critics), None)


def kinds_of(certificate: Certificate) -> list[str]:
    """Return the kinds of defect that any critic was measured on; not every critic is made for each."""
    kinds = (kind.kind for verdict in certificate.critics for kind in verdict.kinds)
    return list(dict.fromkeys(kind for kind in kinds if kind))


def next_steps(certificate: Certificate) -> list[str]:
    """Return what to look at next, at most three things."""
    funnel, steps = certificate.funnel, []
    n_failed = sum(funnel.failed_calls.values())
    if not funnel.n_documents - funnel.n_empty:
        steps.append("Give documents with text: `ragstone ingest` says what it can read.")
    if "over_budget" in funnel.failed_calls:
        steps.append(FAILED_ADVICE["over_budget"])
    elif n_failed * 2 > funnel.n_asked or (n_failed and not funnel.n_written):
        most_often = max(funnel.failed_calls, key=lambda status: funnel.failed_calls[status])
        steps.append(FAILED_ADVICE.get(most_often, DOCTOR))
    often = [lost for lost in funnel.losses if lost.n >= OFTEN * funnel.n_written and lost.reason in ADVICE]
    steps += _written_too_few(certificate)
    steps += [ADVICE[lost.reason] for lost in sorted(often, key=lambda lost: -lost.n)]
    lead = leading(certificate)
    if certificate.declared.critics and certificate.kind == "questions" and funnel.n_accepted:
        if not lead:
            steps.append("Build with planted defects, so that the critics are measured.")
        elif lead.grade == "chance":
            steps.append("Use another model for the critics, or read every accepted question yourself.")
    if funnel.n_accepted:
        noun = noun_of(certificate.kind)
        steps.append(f"Read ten accepted {noun}s with their evidence before you use the set.")
    elif funnel.n_written:
        steps.append("Read some of those that were lost: certificate.html shows them with their reasons.")
    return list(dict.fromkeys(steps))[:3]


def _written_too_few(certificate: Certificate) -> list[str]:
    """Return what to do where nothing was written at all, or no more may be asked of the documents."""
    funnel, declared, noun = certificate.funnel, certificate.declared, noun_of(certificate.kind)
    if funnel.n_asked and not funnel.n_written and not funnel.failed_calls:
        return [f"The model wrote no {noun}: use a larger one, or documents with more to ask about."]
    most = declared.per_document * funnel.n_passages + declared.negatives + declared.multi_hop
    if certificate.kind == "questions" and funnel.n_short and (funnel.n_wanted or 0) > most:
        return [
            f"{plural(funnel.n_passages, 'passage')} with {declared.per_document} each "
            f"(--per-document) cannot give {count(funnel.n_wanted or 0)} {noun}s: ask for more of each."
        ]
    return []


def bars(certificate: Certificate) -> list[Bar]:
    """Return the funnel from what was asked for to what was accepted, without steps that lose nothing."""
    funnel = certificate.funnel
    left = funnel.n_written
    lines = [Bar("tried", funnel.n_asked, 0), Bar("written", left, max(0, funnel.n_asked - left))]
    for step, label in STEPS.items():
        n = n_lost(funnel, step)
        if n:
            left -= n
            text = WRITTEN_FACTS if (step, certificate.kind) == ("write", "facts") else label
            lines.append(Bar(text, left, n))
    return [*lines, Bar("accepted", left, 0)]


def documents_line(certificate: Certificate) -> str:
    """Return what the documents came to: `54 documents · 2 without text · 5 split · 120 passages`."""
    funnel = certificate.funnel
    parts = [
        plural(funnel.n_documents, "document"),
        *([f"{count(funnel.n_empty)} without text"] if funnel.n_empty else []),
        *([f"{count(funnel.n_split)} split"] if funnel.n_split else []),
        plural(funnel.n_passages, "passage"),
    ]
    return " · ".join(parts)


def not_written(certificate: Certificate) -> tuple[int, str]:
    """Return how many fewer were written than tried, and why, as far as that is known; "" where all were."""
    funnel, failed = certificate.funnel, certificate.funnel.failed_calls
    n = max(0, funnel.n_asked - funnel.n_written)
    if failed:
        return n, f"{plural(sum(failed.values()), 'call')} gave nothing: {status_counts(failed)}"
    return n, "the model wrote fewer than it was asked for" if n else ""


def five(of: Five) -> str:
    """Return `8 (6 to 11; 3 to 19)`: the middle, the quartiles, the extremes."""
    return f"{of.middle:.3g} ({of.lower:.3g} to {of.upper:.3g}; {of.least:g} to {of.greatest:g})"


def accepted(group: Group) -> str:
    """Return `30 of 41`: accepted of those written."""
    return f"{count(group.n_accepted)} of {count(group.n_written)}"


def spent(certificate: Certificate) -> str:
    """Return what the build cost; an unknown price is said to be unknown."""
    usage = certificate.usage
    if not usage.calls:
        failed = certificate.funnel.failed_calls
        return "nothing: no call got an answer" if failed else "nothing: no model was called"
    tokens = f"{plural(usage.calls, 'call')}, {count(usage.input)} tokens in, {count(usage.output)} out"
    if certificate.cost_usd is None:
        return f"unknown: ragstone.toml has no price for a model ({tokens})"
    return f"{usd(certificate.cost_usd)} ({tokens})"


def asked_closed_book(certificate: Certificate) -> str:
    """Return how often the model knew the answer without a document, empty where nobody asked."""
    known = certificate.closed_book
    if known is None:
        return ""
    failed = f"; {count(known.n_failed)} could not be asked" if known.n_failed else ""
    guessed = f"; of {count(known.n_guessable)} a guess may do" if known.n_guessable else ""
    if known.rate is None:
        return f"not one question could be asked{failed}"
    low, high = known.rate.low or 0.0, known.rate.high or 0.0
    return (
        f"{count(known.n_known)} of {count(known.n_asked)} ({percent(known.rate.value)}, interval "
        f"{percent_range(low, high)}){guessed}{failed}"
    )


def fitting(fit: Fit, certificate: Certificate) -> str | None:
    """Return how the questions of a run differ from the certified ones, None where they are the same."""
    noun = f"{noun_of(certificate.kind)}s"
    if not fit.n_certified:
        return f"The certificate with the {noun} is for another set: it has none of these {count(fit.n)}."
    if fit.n_certified < fit.n:
        return (
            f"The file has changed since: {count(fit.n - fit.n_certified)} of its {count(fit.n)} {noun} are "
            f"not as certified. What follows describes the {count(fit.of)} that were certified."
        )
    if fit.n == fit.of:
        return None
    which = f"the first {count(fit.n)}" if fit.first else f"{count(fit.n)}"
    return f"The run asked {which} of {count(fit.of)} certified {noun}. What follows describes all of them."


def declared_rows(certificate: Certificate) -> list[tuple[str, str]]:
    """Return what was declared of the set, as (name, value), without what was not asked for."""
    declared = certificate.declared
    if certificate.kind == "facts":
        pairs = {
            "a fact more from": ", ".join(count(n) for n in declared.facts.lengths) + " characters on",
            "made false by": ", ".join(declared.facts.falsify),
        }
        return [(name, value) for name, value in pairs.items() if value]
    pairs = {
        "for": declared.audience,
        "styles": ", ".join(declared.styles),
        "levels": ", ".join(declared.levels),
        "personas": ", ".join(declared.personas),
        "of a document": count(declared.per_document),
        "wanted in all": count(declared.count) if declared.count else "",
        "critics": ", ".join(declared.critics),
        "lowest score that passes": str(declared.threshold) if declared.critics else "",
        "asked at once": "all critics in one call" if declared.one_call else "",
        "unanswerable ones": count(declared.negatives) if declared.negatives else "",
        f"of {declared.hops} documents": count(declared.multi_hop) if declared.multi_hop else "",
        "known without a document": {"off": "", "tag": "tagged", "drop": "dropped"}[declared.closed_book],
        "defects planted": count(declared.planted) if declared.planted else "",
        "set apart for the test": percent(declared.test_share) if declared.test_share else "",
        "longest passage": f"{count(declared.passage)} characters",
    }
    return [(name, value) for name, value in pairs.items() if value]


def review_sentences(numbers: ReviewNumbers) -> list[str]:
    """Return what people decided, what is left to do, and how far the critics agree with them."""
    reasons = "; ".join(f"{count(n)} {REJECTIONS[name]}" for name, n in numbers.reasons.items())  # type: ignore[index]
    edits = ", ".join(f"{name} of {count(n)}" for name, n in numbers.changed.items())
    n_decided = numbers.n - numbers.n_undecided
    counts = {"accepted": numbers.n_accepted, "edited": numbers.n_edited, "rejected": numbers.n_rejected}
    text = ", ".join(f"{count(n)} {what}" for what, n in counts.items())
    rescued = f"; {count(numbers.n_rescued)} of those kept had been lost" if numbers.n_rescued else ""
    of = f"{count(n_decided)} of {plural(numbers.n, 'question')}"
    return [
        f"{people(len(numbers.people))} decided on {of}: {text}{rescued}.",
        *([f"Rejected, and why: {reasons}."] if reasons else []),
        *([f"Edits changed {edits}."] if edits else []),
        *_left(numbers),
        *_critics(numbers),
    ]


def _left(numbers: ReviewNumbers) -> list[str]:
    sentences = []
    if numbers.n_moved:
        sentences.append(f"The evidence of {count(numbers.n_moved)} was found elsewhere in its document.")
    if numbers.n_look:
        sentences.append(
            f"{plural(numbers.n_look, 'question')} must be reviewed again: the text or document has changed "
            "since the decision. `metadata.review.look` says what."
        )
    return sentences


def _critics(numbers: ReviewNumbers) -> list[str]:
    together = next(iter(numbers.critics), None)
    if together is None:
        return []
    sentences = [*_passed(together), *_failed(together)]
    if numbers.n_undecided:
        sentences.append("These shares hold for the whole set if people looked at a random part of it.")
    return sentences


def _passed(critic: CriticAgreement) -> list[str]:
    if critic.precision is None:
        return []
    mended = critic.n_passed_kept - critic.n_passed_as_it_was
    more = f"; {count(mended)} more were kept after a correction" if mended else ""
    return [
        f"Of {count(critic.n_passed)} that passed the critics, people found "
        f"{count(critic.n_passed_as_it_was)} right as they were ({number(critic.precision.value)}, "
        f"95 % interval {interval(critic.precision)}){more}."
    ]


def _failed(critic: CriticAgreement) -> list[str]:
    if critic.missed is None:
        return []
    return [
        f"Of {count(critic.n_failed)} that the critics rejected, people found "
        f"{count(critic.n_failed_as_it_was)} right as they were ({number(critic.missed.value)}, "
        f"95 % interval {interval(critic.missed)})."
    ]
