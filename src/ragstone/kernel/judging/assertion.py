"""Kind `assertion`: yes or no: an answer beside what its row, or the judge's file, expects of it."""

import contextlib
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Annotated, Any, ClassVar, NamedTuple

import msgspec

from ragstone.kernel.corpus.tokens import tokenize
from ragstone.kernel.errors import nearest
from ragstone.kernel.judging._schema import misfit
from ragstone.kernel.judging.citation_marks import cited_statements
from ragstone.kernel.judging.combined import CombinedJudge, MemberVerdict, hear, member_name, with_members
from ragstone.kernel.judging.fields import ZERO_TO_ONE, Input, JudgeFields, Member, Scale
from ragstone.kernel.judging.finding import Finding, JudgeContext, lacks, not_applicable
from ragstone.kernel.judging.inputs import part_of
from ragstone.kernel.judging.thresholds import is_of_another_scale
from ragstone.kernel.llm import CallFailed
from ragstone.kernel.records import K_OF_N, Answer, Metadata

EXPECT = "expect"  # the column of a question that says what its answer must be
OF_ANSWERS = "pass"  # there: how many of the repeated answers must be so, as `2 of 3`
SHOWN = 5  # things that a reason names

Verdict = tuple[bool, str]
"""Whether the answer is as it must be, and why not, or how."""


def regex(answer: str, expected: str) -> Verdict:
    """True if the pattern matches somewhere in the answer."""
    match = re.search(expected, answer)
    return match is not None, f"found {match[0][:80]!r}" if match else f"nothing matches {expected!r}"


def contains_all(answer: str, expected: str | Sequence[str]) -> Verdict:
    """True if the answer holds each of the texts; case is ignored."""
    missing = [text for text in _texts(expected) if text.casefold() not in answer.casefold()]
    return not missing, f"missing: {', '.join(missing[:SHOWN])}" if missing else "all there"


def contains_any(answer: str, expected: str | Sequence[str]) -> Verdict:
    """True if the answer holds one of the texts; case is ignored."""
    held = [text for text in _texts(expected) if text.casefold() in answer.casefold()]
    return bool(held), f"found {held[0]!r}" if held else f"none of: {', '.join(_texts(expected)[:SHOWN])}"


def valid_json(answer: str, expected: object) -> Verdict:
    """True if the answer is JSON; where a JSON Schema is expected, one that fits it."""
    try:
        value = msgspec.json.decode(answer)
    except (msgspec.DecodeError, RecursionError) as mistake:
        return False, f"no JSON: {mistake}"
    if not isinstance(expected, dict):
        return True, "JSON"
    wrong = misfit(value, expected, "expect")
    return wrong is None, wrong or "fits the schema"


def max_words(answer: str, expected: float) -> Verdict:
    """True if the answer has at most so many words (letters, in scripts without spaces)."""
    n = len(tokenize(answer))
    return n <= expected, f"{n} words, at most {expected:g}"


def at_most(value: float, expected: float) -> Verdict:
    """True if the value is at most the one expected."""
    return value <= expected, f"{value:g}, at most {expected:g}"


def cites_sources(contexts: Sequence[str], row: Answer, expected: float) -> Verdict:
    """True if at least so many different contexts are cited, and none that is not there."""
    statements = cited_statements(row.answer, row.contexts or [])
    wrong = [name for statement in statements for name in statement.dangling]
    if wrong:
        return False, f"cites [{wrong[0]}], and there are {len(contexts)} contexts"
    n_cited = len({number for statement in statements for number in statement.cited})
    return n_cited >= expected, f"cites {n_cited} of {len(contexts)} contexts, at least {expected:g}"


class AtLeast(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """So many of some things: texts, which the answer holds in any case, or tables check = expectation."""

    n: Annotated[int, msgspec.Meta(ge=1)]
    of: Annotated[list[str | dict[str, Any]], msgspec.Meta(min_length=2)]


def at_least(answer: str, expected: Mapping[str, Any]) -> Verdict:
    """True if at least n of the things hold: `{"n": 2, "of": ["loam", "pH 6", {"max_words": 30}]}`."""
    held: list[str] = []
    failed: list[str] = []
    for check, inner in map(_part, expected["of"]):
        passed, why = CHECKS[check].function(answer, inner)
        (held if passed else failed).append(f"{check}: {why}")
    told = f"{len(held)} of {len(expected['of'])} hold, at least {expected['n']}"
    return len(held) >= expected["n"], "; ".join([told, *failed[:SHOWN]])


def _part(item: str | Mapping[str, Any]) -> tuple[str, Any]:
    return ("contains_any", item) if isinstance(item, str) else next(iter(item.items()))


def _texts(expected: str | Sequence[str]) -> list[str]:
    return [expected] if isinstance(expected, str) else list(expected)


class AssertionRule(NamedTuple):
    """reads: the parts of a row that the function is given. kind: what may be expected, and in words.

    usual: what is expected of a row that says nothing at all of what it expects; None where somebody has to.
    """

    function: Callable[..., Verdict]
    reads: tuple[str, ...]
    kind: Any
    words: str
    usual: object = None


TEXTS = str | list[str]
CHECKS: dict[str, AssertionRule] = {
    "regex": AssertionRule(regex, ("answer",), str, "a pattern"),
    "contains_all": AssertionRule(contains_all, ("answer",), TEXTS, "a text or a list of them"),
    "contains_any": AssertionRule(contains_any, ("answer",), TEXTS, "a text or a list of them"),
    "valid_json": AssertionRule(
        valid_json, ("answer",), bool | dict[str, Any], "a JSON Schema, or true", usual=True
    ),
    "at_least": AssertionRule(
        at_least,
        ("answer",),
        AtLeast,
        'how many of which, such as {"n": 2, "of": ["loam", {"regex": "pH [56]"}, {"max_words": 30}]}',
    ),
    "max_latency": AssertionRule(at_most, ("latency_s",), float, "seconds"),
    "max_cost": AssertionRule(at_most, ("cost_usd",), float, "US dollars"),
    "max_words": AssertionRule(max_words, ("answer",), float, "a number of words"),
    "cites_sources": AssertionRule(cites_sources, ("contexts", "row"), float, "how many sources", usual=1),
}
THRESHOLD = "threshold"


class AssertionJudge(CombinedJudge, frozen=True, kw_only=True, tag="assertion"):
    """A judge that says yes (1) or no (0).

    check: one of CHECKS; or `threshold`, of the score of the one judge in `members`. expect: what is expected
    of every answer; what a row expects in its column `expect`, a table check = expectation, goes before.
    """

    check: str
    expect: str | float | bool | list[str] | dict[str, Any] | None = None
    inputs: list[Input] = []
    scale: Scale = ZERO_TO_ONE

    fixed_scale: ClassVar[Scale | None] = ZERO_TO_ONE
    asks_model: ClassVar[bool] = False
    reads_texts: ClassVar[bool] = False

    @property
    def reads_answer(self) -> bool:
        """What is asserted is of the answer."""
        return True

    @property
    def measures(self) -> str:
        """The metric: without one in the file, that of the judge that the threshold is of."""
        return self.metric or (self.members[0].inner.measures if self.members else self.name)

    @property
    def prompt_version(self) -> int:
        """The number of the judge that the threshold is of."""
        return self.members[0].inner.prompt_version if self.members else self.version

    def _own_problems(self) -> Iterator[tuple[str, str]]:
        if self.check not in (*CHECKS, THRESHOLD):
            yield "check", f"check = {self.check!r}. {nearest(self.check, (*CHECKS, THRESHOLD))}"
            return
        if len(self.members) != (self.check == THRESHOLD):
            yield "members", f'check = "{self.check}" has {int(self.check == THRESHOLD)} members.'
        if self.check == THRESHOLD and type(self.expect) not in (int, float):
            yield "expect", "a threshold needs a number: expect = 0.8"
        if (
            self.check != THRESHOLD
            and self.expect is not None
            and (problem := problem_of(self.check, self.expect))
        ):
            yield "expect", problem

    def problem_of_member(self, member: Member, inner: JudgeFields) -> str | None:
        """Return why a judge cannot be this member, or None."""
        low, high = inner.scale
        threshold = self.expect
        if isinstance(threshold, int | float) and (
            not low <= threshold <= high or is_of_another_scale(threshold, inner.scale)
        ):
            return f"scores from {low:g} to {high:g}, and the threshold is {threshold:g}."
        return super().problem_of_member(member, inner)

    async def find(self, answer: Answer, _inputs: dict[str, str], context: JudgeContext) -> Finding:
        """Return 1 or 0, and why. Raises CallFailed where the row expects what cannot be expected."""
        needed = k_of_n(expectations(answer.metadata, self.check))
        finding = await self._find(answer, context)
        if needed is None:
            return finding
        return msgspec.structs.replace(finding, metadata={**(finding.metadata or {}), K_OF_N: list(needed)})

    async def _find(self, answer: Answer, context: JudgeContext) -> Finding:
        if self.check == THRESHOLD:
            return self._threshold(await hear(self.members[0], answer, context))
        check = CHECKS[self.check]
        expected = _expectation(self, answer)
        if expected is None:
            return not_applicable(f"nothing is expected: the row has no {EXPECT}.{self.check}, nor the judge")
        if problem := problem_of(self.check, expected):
            raise CallFailed("error", f"{EXPECT}.{self.check} of the row: {problem}")
        parts = {name: part_of(answer, name) for name in check.reads}
        missing = next((name for name, part in parts.items() if part is None), None)
        if missing is not None:
            return not_applicable(lacks(missing))
        passed, why = check.function(*parts.values(), expected)
        return Finding(score=float(passed), rationale=why)

    def _threshold(self, heard: MemberVerdict) -> Finding:
        """Return whether a score reaches the threshold, from the good end; no score passes nothing."""
        score, judgement, inner = heard.judgement.score, heard.judgement, heard.member.inner
        if score is None:
            failed = Finding(
                score=None, status=judgement.status, rationale=judgement.rationale, error=judgement.error
            )
            return with_members(failed, [heard])
        assert isinstance(self.expect, int | float)
        lowest_is_best = inner.best == "lowest"
        passed = score <= self.expect if lowest_is_best else score >= self.expect
        needed = f"at {'most' if lowest_is_best else 'least'} {self.expect:g}"
        why = f"{member_name(heard.member)} gave {score:g}, {needed}"
        rationale = f"{why}. {judgement.rationale}" if judgement.rationale else why
        return with_members(Finding(score=float(passed), rationale=rationale), [heard])


def _expectation(judge: AssertionJudge, answer: Answer) -> object:
    """Return what is expected of a row: by the row, by the judge's file, else the usual; None for nothing.

    A row that says what it expects, and not this, expects nothing of this kind.
    """
    stated = expectations(answer.metadata, judge.check)
    expects = {name: value for name, value in stated.items() if name != OF_ANSWERS}
    own = expects.get(judge.name, expects.get(judge.check))
    usual = None if expects else CHECKS[judge.check].usual
    return next((expected for expected in (own, judge.expect, usual) if expected is not None), None)


def expectations(metadata: Metadata | None, check: str = "contains_all") -> dict[str, Any]:
    """Return what a row says that it expects, empty where it says nothing. Raises CallFailed.

    check: that an error gives as an example.
    """
    expects = (metadata or {}).get(EXPECT)
    if isinstance(expects, str):  # as a CSV file has it
        with contextlib.suppress(msgspec.DecodeError):
            expects = msgspec.json.decode(expects)
    if expects is not None and not isinstance(expects, dict):
        raise CallFailed(
            "error",
            f'{EXPECT} of the row is {str(expects)[:60]!r}: write a table, such as {{"{check}": ...}}',
        )
    return expects or {}


def k_of_n(expects: Mapping[str, Any]) -> tuple[int, int] | None:
    """Return how many of how many answers a row wants to pass, None where it does not say.

    expects: what a row expects. Raises CallFailed for what is not of the form `2 of 3`, with 1 to 3 in place
    of the 2.
    """
    stated = expects.get(OF_ANSWERS)
    if stated is None:
        return None
    form = re.fullmatch(r"\s*(\d{1,6})\s+of\s+(\d{1,6})\s*", str(stated), re.ASCII)
    k, n = map(int, form.groups()) if form else (0, 0)
    if not 1 <= k <= n:
        raise CallFailed(
            "error",
            f"{EXPECT}.{OF_ANSWERS} is {str(stated)[:60]!r}: write how many of how many answers "
            'must pass, such as "2 of 3", at least 1 and at most all.',
        )
    return k, n


def read_expected(check: str, text: str) -> object:
    """Return what `@expect=` says for a check: a number, a text, or true or a schema, which are in JSON."""
    kind = CHECKS[check].kind if check in CHECKS else float
    if kind is float:
        with contextlib.suppress(ValueError):
            return float(text)
    elif kind not in (str, TEXTS):
        with contextlib.suppress(msgspec.DecodeError):
            return msgspec.json.decode(text)
    return text


def problem_of(check: str, expected: object) -> str | None:
    """Return why this cannot be expected by a check, or None."""
    rule = CHECKS[check]
    try:
        msgspec.convert(expected, rule.kind)
        if rule.function is regex:
            re.compile(str(expected))
        if rule.function is at_least:
            return _problem_of_parts(msgspec.convert(expected, AtLeast))
        if isinstance(expected, float) and not math.isfinite(expected):
            return f"{expected} is not what {check} expects: give {rule.words}."
    except msgspec.ValidationError:
        return f"{expected!r} is not what {check} expects: give {rule.words}."
    except re.error as mistake:
        return f"{expected!r} is not a regular expression: {mistake}."
    return None


def _problem_of_parts(expected: AtLeast) -> str | None:
    """Return why no such number of these things can be expected, or None."""
    if expected.n > len(expected.of):
        return f"n = {expected.n}, of {len(expected.of)} things: give at most {len(expected.of)}."
    if again := next((item for at, item in enumerate(expected.of) if item in expected.of[:at]), None):
        return f"{str(again)[:60]} is twice in `of`, and would count twice: remove one."
    if "" in expected.of:
        return "an empty text in `of`, which every answer holds: remove it."
    usable = [name for name, rule in CHECKS.items() if rule.reads == ("answer",) and name != "at_least"]
    for item in expected.of:
        if isinstance(item, dict) and len(item) != 1:
            return f'{str(item)[:60]} in `of`: give one check in each, such as {{"max_words": 30}}.'
        check, inner = _part(item)
        if check not in usable:
            return f"check {check!r} in `of`. {nearest(check, usable)}"
        if problem := problem_of(check, inner):
            return problem
    return None
