"""What a decision model is asked and what comes back: typed questions, a probability for each option.

Two protocols carry them. OpenAI's `POST /decisions` (read in its SDK 3.57.0) answers with a list in the order
of the questions; TypeSafe's `POST /v1/systemone` (typesafe-sdk 0.7.5), which others speak too, with an object
whose keys are the questions' names. A body is read by its shape. An answer keeps to the protocol or is none:
where probabilities and what is stated beside them differ, nobody knows which of the two holds.
"""

import json
from collections.abc import Iterator, Sequence
from typing import Any, Literal

import msgspec

MOST_QUESTIONS = 400  # in one request, of OpenAI; others take fewer, and say so
MOST_CHOICES = 255
# Some gateways round to two decimals (OpenRouter): each option may then be off by half a hundredth.
ROUNDED, LEAST_OFF, MOST_OFF = 0.005, 0.01, 0.05
SCORE_OFF = 0.05  # of the distance from the lowest level to the highest, for the same reason
ABOVE_ONE = 1e-6  # of a sum in single precision
MOST_SCORE = 1e6

QuestionType = Literal["predicate", "choice", "score"]
YES_NO = ("true", "false")
# The names of the types in the two protocols.
TYPE_NAMES: dict[QuestionType, tuple[str, ...]] = {
    "predicate": ("predicate", "noul"),
    "choice": ("choice",),
    "score": ("score",),
}


class TypedQuestion(msgspec.Struct, frozen=True, kw_only=True):
    """One question about the texts of a prompt.

    type: `predicate`, how likely what `text` says is true; `choice`, one of the options; `score`, one of the
    levels, the lowest first. options: label -> what it means, empty where the label says it; none for a
    predicate. about: a text of the row that the question is about, beside those of the prompt.
    """

    name: str
    type: QuestionType
    text: str
    options: tuple[tuple[str, str], ...] = ()
    about: str = ""

    @property
    def labels(self) -> tuple[str, ...]:
        """The outcomes, in the order of the probabilities."""
        return YES_NO if self.type == "predicate" else tuple(label for label, _meaning in self.options)

    @property
    def instructions(self) -> str:
        """The question as it is sent. What it is about is quoted, so that it cannot speak as we do."""
        return f"{self.text}\n\n{json.dumps(self.about, ensure_ascii=False)}" if self.about else self.text


class Questionnaire(msgspec.Struct, frozen=True, kw_only=True):
    """The questions of one request, and the names of the texts that they are about.

    inputs: one for each message of the prompt, in their order. Raises ValueError for more questions than any
    endpoint takes, for none, and for two of one name or a choice among fewer than two options.
    """

    inputs: tuple[str, ...]
    questions: tuple[TypedQuestion, ...]

    def __post_init__(self) -> None:
        names = {question.name for question in self.questions}
        if not 1 <= len(self.questions) <= MOST_QUESTIONS or len(names) < len(self.questions):
            raise ValueError(
                f"{len(self.questions)} questions of {len(names)} names: give 1 to {MOST_QUESTIONS}"
            )
        for question in self.questions:
            labels = question.labels
            if not 2 <= len(set(labels)) == len(labels) <= MOST_CHOICES:
                raise ValueError(f"question {question.name!r}: 2 to {MOST_CHOICES} different options")


class OptionChances(msgspec.Struct, frozen=True, kw_only=True):
    """The answer to one question.

    probabilities: of its outcomes (see TypedQuestion.labels), their sum 1; empty where there is no answer.
    problem: why there is none, in words. refused: the model declined to answer.
    """

    question: str
    probabilities: tuple[float, ...] = ()
    problem: str | None = None
    refused: bool = False


class _RepeatedKeys(dict[str, Any]):
    """An object in which a key is given twice."""


class _Malformed(Exception):
    """What is wrong with an answer, or with all of them."""


def read_answers(text: str, questionnaire: Questionnaire) -> tuple[OptionChances, ...]:
    """Return the answer to each question, in their order, out of the body of a reply.

    An answer that breaks the protocol has a `problem` and no probabilities, and costs the others nothing.
    Where it is not clear which answer belongs to which question (one is missing, given twice, of an unknown
    name, in another order), none is taken.
    """
    questions = questionnaire.questions
    try:
        raw = _answers_of(text, questions)
    except _Malformed as mistake:
        return tuple(OptionChances(question=question.name, problem=str(mistake)) for question in questions)
    return tuple(_read(question, answer) for question, answer in zip(questions, raw, strict=True))


def _answers_of(text: str, questions: Sequence[TypedQuestion]) -> list[Any]:
    """Return the answers as they came, in the order of the questions. Raises _Malformed."""
    try:
        # The standard library's reader takes NaN, which costs one answer then and not all of them.
        body = json.loads(
            text,
            object_pairs_hook=lambda pairs: (_RepeatedKeys, dict)[len(dict(pairs)) == len(pairs)](pairs),
        )
    except (ValueError, RecursionError):
        raise _Malformed("the reply is no JSON") from None
    answers = body.get("answers") if isinstance(body, dict) else None
    if not isinstance(answers, dict | list):
        raise _Malformed("the reply has no answers")
    if isinstance(body, _RepeatedKeys) or isinstance(answers, _RepeatedKeys):
        raise _Malformed("an answer is given twice")
    names = [question.name for question in questions]
    if isinstance(answers, dict):
        _check_names(list(answers), names)
        return [answers[name] for name in names]
    if len(answers) > len(names):
        raise _Malformed(f"there are {len(answers)} answers to {len(names)} questions")
    told = [answer.get("name") if isinstance(answer, dict) else None for answer in answers]
    # Names are optional there: the order tells.
    given = [own if name is None else str(name) for name, own in zip(told, names, strict=False)]
    _check_names(given, names)
    if given != names:
        raise _Malformed("the answers come in another order than the questions")
    return answers


def _check_names(given: Sequence[str], names: Sequence[str]) -> None:
    """Raise _Malformed where the answers are not one for each question."""
    if len(set(given)) < len(given):
        raise _Malformed("an answer is given twice")
    unknown = next((name for name in given if name not in names), None)
    if unknown is not None:
        raise _Malformed(f"the reply answers a question {unknown[:40]!r}, which was not asked")
    if len(given) < len(names):
        raise _Malformed(f"{len(names) - len(given)} of {len(names)} questions have no answer")


def _read(question: TypedQuestion, answer: object) -> OptionChances:
    try:
        if not isinstance(answer, dict):
            raise _Malformed("is no object")
        if isinstance(answer, _RepeatedKeys):
            raise _Malformed("gives a field twice")
        if answer.get("type") == "refusal":
            return OptionChances(question=question.name, problem="the model declined to answer", refused=True)
        if answer.get("type") not in TYPE_NAMES[question.type]:
            raise _Malformed(f"is of type {str(answer.get('type'))[:40]!r}, and not {question.type}")
        shares = _shares(question, answer)
        _check_stated(question, answer, shares)
    except _Malformed as mistake:
        return OptionChances(question=question.name, problem=f"the answer {mistake}")
    return OptionChances(question=question.name, probabilities=shares)


def _shares(question: TypedQuestion, answer: dict[str, Any]) -> tuple[float, ...]:
    """Return the probabilities in the order of the labels, their sum 1. Raises _Malformed."""
    if question.type == "predicate":
        share = _share(answer.get("probability" if answer["type"] == "predicate" else "noul"))
        return share, 1 - share
    told = answer.get("probabilities")
    if isinstance(told, _RepeatedKeys) or not isinstance(told, dict | list) or not told:
        raise _Malformed("has no probabilities")
    pairs = list(_entries(question, told)) if isinstance(told, list) else list(told.items())
    keys = [key for key, _value in pairs]
    expected = list(question.labels)
    if isinstance(told, dict) and question.type == "score":  # by the level's number there
        expected = [str(number) for number in range(len(expected))]
        _check_legend(question, answer.get("legend"))
    unknown = next((key for key in keys if key not in expected), None)
    if unknown is not None:
        raise _Malformed(f"has a probability for {str(unknown)[:40]!r}, which is none of the options")
    if len(keys) != len(expected) or len(set(keys)) < len(keys):
        raise _Malformed(f"has {len(keys)} probabilities for {len(expected)} options")
    by_key = dict(pairs)
    shares = [_share(by_key[key]) for key in expected]
    total = sum(shares)
    if abs(total - 1) > min(MOST_OFF, max(LEAST_OFF, ROUNDED * len(shares))) + 1e-9:
        raise _Malformed(f"has probabilities that sum to {total:.3g}")
    return tuple(share / total for share in shares)


def _entries(question: TypedQuestion, told: Sequence[Any]) -> Iterator[tuple[str, Any]]:
    """Yield label and probability of a list; levels must rise in the order in which they were asked."""
    values: dict[str, int] = {}
    for entry in told:
        if not isinstance(entry, dict) or isinstance(entry, _RepeatedKeys):
            raise _Malformed("has a probability of no option")
        key = entry.get("label" if question.type == "score" else "value")
        if not isinstance(key, str):
            raise _Malformed("has a probability of no option")
        if question.type == "score":
            value = entry.get("value")
            if type(value) is not int:
                raise _Malformed("has a level without a number")
            values[key] = value
        yield key, entry.get("probability")
    in_order = [values[label] for label in question.labels if label in values]
    if in_order and in_order != list(range(in_order[0], in_order[0] + len(in_order))):
        raise _Malformed("numbers the levels in another order")


def _check_legend(question: TypedQuestion, legend: object) -> None:
    """Raise _Malformed where the levels are told in another order than they were asked in."""
    if legend is None:
        return
    asked = {str(number): level_text(option) for number, option in enumerate(question.options)}
    if not isinstance(legend, dict) or any(
        legend[key] != asked.get(key) for key in legend if isinstance(legend[key], str)
    ):
        raise _Malformed("has other levels, or in another order, than were asked")


def level_text(option: tuple[str, str]) -> str:
    """Return a level in one text, for protocols that know it by its place alone."""
    label, meaning = option
    return f"{label}: {meaning}" if meaning else label


def _check_stated(question: TypedQuestion, answer: dict[str, Any], shares: Sequence[float]) -> None:
    """Raise _Malformed where the outcome that is stated is not that of the probabilities."""
    if question.type == "choice":
        stated = answer.get("choice")
        if stated not in question.labels:
            raise _Malformed(f"chooses {str(stated)[:40]!r}, which is none of the options")
        if shares[question.labels.index(stated)] < max(shares) - 2 * ROUNDED - 1e-9:
            raise _Malformed(f"chooses {stated!r}, which is not the likeliest option")
    if question.type == "score":
        told: Any = answer.get("score")
        number = isinstance(told, int | float) and not isinstance(told, bool)
        if not number or not -MOST_SCORE < told < MOST_SCORE:  # NaN is in no range
            raise _Malformed("has no score")
        told_levels = answer["probabilities"]
        first = min(entry["value"] for entry in told_levels) if isinstance(told_levels, list) else 0
        expected = first + sum(number * share for number, share in enumerate(shares))
        if abs(told - expected) > SCORE_OFF * (len(shares) - 1) + 1e-9:
            raise _Malformed(f"states the score {told:.3g}, and its probabilities make {expected:.3g}")


def _share(value: object) -> float:
    """Return a probability. Raises _Malformed for what is none: true and false are none either."""
    if type(value) is int and value in (0, 1):
        return float(value)
    if type(value) is not float or not 0 <= value <= 1 + ABOVE_ONE:  # NaN is in no range
        raise _Malformed(f"has {str(value)[:40]!r} for a probability")
    return min(1.0, value)
