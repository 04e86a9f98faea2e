"""What may be said of an evaluation set that was checked: each sentence with its condition."""

from ragstone.features.check.sets import FEWEST, PartPair, SetCheck, TypeShare
from ragstone.kernel.document.numbers import count, percent, percent_range
from ragstone.kernel.errors import plural
from ragstone.kernel.sentences import Sentence
from ragstone.kernel.statistics import Estimate

TYPE_NAMES = {
    "yes_no": "yes or no",
    "choice": "choice or comparison",
    "amount": "amount",
    "time": "time",
    "place": "place",
    "person": "person",
    "reason": "reason",
    "procedure": "how to",
    "fact": "what, which, how",
    "request": "request",
    "keywords": "search words",
}


def _ends(share: Estimate | None) -> str:
    if share is None:
        return ""
    ends = f" ({percent_range(share.low, share.high or 0.0)})" if share.low is not None else ""
    return f"{percent(share.value)}{ends}"


NONE_REPEATED = Sentence[SetCheck](
    code="set-no-repeats",
    text="No question repeats another in the same words or nearly the same; questions in other words were "
    "not compared.",
    when="no question repeats an earlier one",
    holds=lambda check: not check.repeats,
    never_beside=("set-repeats", "set-parts-repeat", "set-other-answers"),
)
REPEATED = Sentence[SetCheck](
    code="set-repeats",
    text="Questions that repeat an earlier one: {n} of {questions} ({exact} in the same words, {near} in "
    "nearly the same).",
    when="a question repeats an earlier one",
    holds=lambda check: bool(check.repeats),
    needs={
        "n": "questions that repeat an earlier one",
        "questions": "questions of all parts",
        "exact": "of them in the same words",
        "near": "of them in nearly the same",
    },
    fills=lambda check: {
        "n": count(len(check.repeats)),
        "questions": count(sum(check.parts.values())),
        "exact": count(sum(repeat.exact for repeat in check.repeats)),
        "near": count(sum(not repeat.exact for repeat in check.repeats)),
    },
)
OTHER_ANSWERS = Sentence[SetCheck](
    code="set-other-answers",
    text="Repeats with another reference than the first: {n}. One of the two is wrong, or the question has "
    "several answers.",
    when="both questions of a repeat have references, and none of the one is one of the other",
    holds=lambda check: any(repeat.other_answer for repeat in check.repeats),
    needs={"n": "such repeats"},
    fills=lambda check: {"n": count(sum(repeat.other_answer for repeat in check.repeats))},
)
PARTS_REPEAT = Sentence[PartPair](
    code="set-parts-repeat",
    text="Questions of {second} that repeat one of {first}: {n}. They do not test what was developed on "
    "{first}.",
    when="questions of one part repeat questions of an earlier one",
    holds=lambda pair: pair.n_repeats > 0,
    needs={
        "n": "questions that repeat one of the other part",
        "first": "the part that is named first",
        "second": "the part that is named later",
    },
    fills=lambda pair: {"n": count(pair.n_repeats), "first": pair.first, "second": pair.second},
)
PARTS_SHARE = Sentence[PartPair](
    code="set-parts-share-documents",
    text="Questions of {second} that rest on a document that questions of {first} rest on too: {n}, on "
    "{documents}.",
    when="questions of two parts name the same document, as theirs or as that of their evidence",
    holds=lambda pair: pair.n_documents > 0,
    needs={
        "n": "questions of the later part",
        "documents": "documents of both",
        "first": "the part that is named first",
        "second": "the part that is named later",
    },
    fills=lambda pair: {
        "n": count(pair.n_questions),
        "documents": plural(pair.n_documents, "document"),
        "first": pair.first,
        "second": pair.second,
    },
)
FEWER = Sentence[TypeShare](
    code="set-fewer-of-type",
    text="Fewer questions of the type `{type}` than the log: {set} of the set, {log} of the log.",
    when="the interval of the difference, for all types together, is below 0, and the set has 20 questions "
    "or more of a known type, the log 20 conversations or more with such questions",
    holds=lambda share: share.differs == "fewer",
    needs={
        "type": "how they ask",
        "set": "share of the set's questions of a known type, with its 95 % interval",
        "log": "the same of the log, clustered by conversation",
    },
    fills=lambda share: {
        "type": TYPE_NAMES[share.type],
        "set": _ends(share.set),
        "log": _ends(share.log),
    },
    never_beside=("set-types-too-few", "set-types-alike"),
)
TYPES_ALIKE = Sentence[SetCheck](
    code="set-types-alike",
    text="No type of question is shown to be rarer in the set than in the log.",
    when="the set has 20 questions or more of a known type, the log 20 conversations or more with such "
    "questions, and no difference is surely below 0",
    holds=lambda check: check.compares and not any(share.differs == "fewer" for share in check.types),
    never_beside=("set-types-too-few",),
)
TOO_FEW = Sentence[SetCheck](
    code="set-types-too-few",
    text="Types of questions cannot be compared with the log. Of a known type: {set} of the set, and those "
    "in {log} of the log; {least} questions and {least} conversations are needed.",
    when="a log is given, and the set has fewer than 20 questions of a known type, or the log fewer than 20 "
    "conversations with such questions",
    holds=lambda check: check.n_log > 0 and not check.compares,
    needs={
        "set": "questions of the set of a known type",
        "log": "conversations of the log with questions of a known type",
        "least": "20",
    },
    fills=lambda check: {
        "set": plural(sum(check.parts.values()) - check.n_untyped, "question"),
        "log": plural(check.n_log_conversations, "conversation"),
        "least": count(FEWEST),
    },
)
SENTENCES = (
    NONE_REPEATED,
    REPEATED,
    OTHER_ANSWERS,
    PARTS_REPEAT,
    PARTS_SHARE,
    FEWER,
    TYPES_ALIKE,
    TOO_FEW,
)
