"""No routine that takes text from outside, and no pattern, needs more than linear time on hostile text.

A quick tier: what is slowest at 2 KB is timed at 8, 32 and 128 KB. `python -m benchmarks.linear` is the
whole sweep.
"""

import re
import time
from itertools import pairwise

import pytest
from tests.support.linear import GROWTH, Found, call_of, grow, hostile, patterns, seconds_of, text_of, worst
from tests.support.outside import ATOMS, BOUNDED, BUILT, ROUTINES, built, importer_of
from tests.support.spans_of_shapes import SHAPES, spans_of

from ragstone.features.import_ import _recognise as recognise
from ragstone.kernel.corpus.reading import PACKED, READERS
from ragstone.kernel.judging import _truth_clauses as truth_clauses
from ragstone.kernel.judging.truth import says_true
from ragstone.kernel.records import Judgement
from ragstone.kernel.tables import parse_rows
from ragstone.kernel.tables.interchange.traces import answers_of

pytestmark = pytest.mark.simulation

# One signs' class each, and what has frozen a routine before.
TELLING = (
    "a", "1 ", "a.", "[", "[a](", "<!--", "{", "{}", "# ", "\n", "4111 ", "255.", "Dr. ", "<h1>a", "pin 1234",
)  # fmt: skip


def test_every_pattern_of_the_package_is_found():
    sites = {f"{one.place.rpartition(':')[0]}:{one.function}" for one in patterns() if one.pattern is None}
    assert sites == BUILT.keys(), (
        "a pattern that a function builds: give an example in tests/support/outside.py"
    )
    found = {one.pattern.pattern for one in patterns() if one.pattern is not None}
    for known in (r"[-+#%$€£¥₹°=<>*/\\^~|&@]*", r"\[([^\]]{0,500}+)\]", "^title:"):
        assert any(known in str(pattern) for pattern in found)


def test_every_reader_is_timed():
    assert {f"corpus.read{ending}" for ending in READERS if ending not in PACKED} <= ROUTINES.keys()
    assert {f"importing.exports.{name}" for name in recognise.EXPORTS} <= ROUTINES.keys()


def test_patterns_run_in_linear_time():
    found = [one for one in patterns() if one.pattern is not None]
    found += built()
    distinct = {(one.pattern, one.methods): one for one in found}
    faults = [
        f"{one.place} {parts}: {growth.fault}"
        for one in distinct.values()
        if one.pattern is not None
        for parts, growth in worst(
            call_of(one), hostile(one.pattern, 40), 1, as_bytes=isinstance(one.pattern.pattern, bytes)
        )
        if growth.fault
    ]
    assert not faults


@pytest.mark.parametrize("name", ROUTINES)
def test_routine_runs_in_linear_time(name):
    texts = [("", atom, "!") for atom in TELLING]
    grown = worst(ROUTINES[name], texts, 1, growth=BOUNDED.get(name, GROWTH))
    assert not [(parts, growth.fault) for parts, growth in grown if growth.fault]


@pytest.mark.parametrize("slow", [r"\s+$", r"<!--.*?-->", r"(?:a+)+!"], ids=["end", "open", "power"])
def test_a_slow_pattern_is_told_and_soon(slow):
    began = time.thread_time()
    pattern = re.compile(slow)
    found = Found("here:1", None, pattern, frozenset({"search"}))
    assert any(growth.fault for _, growth in worst(call_of(found), hostile(pattern, 40), 5, takes=2))
    assert time.thread_time() - began < 30


def test_a_slow_routine_is_told():
    slow = grow(
        lambda text: [text.count("b", at) for at in range(len(text))], lambda size: "a" * size, takes=2
    )
    assert slow.fault


@pytest.mark.parametrize("shape", SHAPES)
def test_spans_of_any_shape_are_read_in_linear_time(shape):
    growth = grow(lambda steps: list(answers_of(steps, "a.jsonl")), lambda size: spans_of(shape, size // 16))
    assert not growth.fault, growth


@pytest.mark.parametrize("lang", sorted(truth_clauses._lexicons()))
def test_an_answer_of_verdicts_and_negations_is_read_in_linear_time(lang):
    """A word of each list again and again, in one clause and in many, before a `that`."""
    by_lists = {lists: word for word, lists in truth_clauses._lexicons()[lang].phrases.items()}
    words = sorted(by_lists.values())
    shapes = [f"{word}{end}" for word in words for end in (" ", ", ", " {n}, ")]
    shapes += [f"{first} {second} " for first, second in pairwise(words)]
    for shape in shapes:
        short, long = (_numbered(shape, size) for size in (2_000, 8_000))
        for _ in range(12):
            if (long_s := seconds_of(says_true, long)) < 0.025 or long_s < 5 * (
                short_s := seconds_of(says_true, short)
            ):
                break
        else:
            pytest.fail(f"{shape!r}: {short_s:.3f} s, and {long_s:.3f} s for 4 times the text")


def _numbered(shape: str, size: int) -> str:
    """Return a text of so many characters; a clause of it has its number where the shape has one."""
    return "".join(shape.format(n=n) for n in range(size // (len(shape) + 1))) + ", that is so"


def test_a_file_of_an_importer_holds_the_text():
    seen = []
    importer_of(lambda source, _: seen.append(source.path.read_text()) or [], "<", ">")(
        text_of(("", "ab", "!"), 5)
    )
    assert seen == ["<abab!>"]
    assert len(ATOMS) > 100


def _event(number: int, **more: str) -> dict[str, object]:
    attributes = {"gen_ai.evaluation.name": "n", "gen_ai.evaluation.score.label": "pass", **more}
    named = {"trace_id": f"t{number}", "span_id": f"s{number}"}
    return {"event_name": "gen_ai.evaluation.result", **named, "attributes": attributes}


VERDICTS = {
    "answers": lambda n: [_event(at) for at in range(n)],
    "versions": lambda n: [
        _event(at, **{"gen_ai.evaluation.evaluator.version": f"a{at}"}) for at in range(n)
    ],
    "sources": lambda n: [_event(at, **{"gen_ai.evaluation.evaluator.source": f"{at}"}) for at in range(n)],
    "names": lambda n: [_event(0, **{"gen_ai.evaluation.name": f"n{at}"}) for at in range(n)],
    "repeats": lambda n: [_event(0) for _ in range(n)],
    "parts": lambda n: [{**_event(0), "span_id": f"s{at}"} for at in range(n)],
    "lost": lambda n: [{**_event(0), "trace_id": "0", "span_id": "0"} for _ in range(n)],
    "scores of a trace": lambda n: [
        {
            "id": "t",
            "timestamp": 1,
            "name": "x",
            "input": "q",
            "output": "a",
            "userId": "u",
            "scores": [{"id": f"{at}", "name": f"n{at}", "value": 1, "source": "EVAL"} for at in range(n)],
        }
    ],
    "evaluators below one another": lambda n: [
        {
            "name": "x",
            "parent_id": f"s{at - 1}",
            "context": {"trace_id": "t", "span_id": f"s{at}"},
            "attributes": {"openinference.span.kind": "EVALUATOR", "output.value": "1"},
        }
        for at in range(n)
    ],
}


@pytest.mark.parametrize("shape", VERDICTS)
def test_verdicts_of_any_shape_are_read_in_linear_time(shape):
    growth = grow(lambda rows: parse_rows(rows, Judgement), lambda size: VERDICTS[shape](size // 128))
    assert not growth.fault, growth
