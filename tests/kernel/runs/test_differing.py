"""Words in which answers differ."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone.kernel.runs.differing import MOST_WORDS, word_differences


def marked(first: str, second: str) -> list[list[str]]:
    found = word_differences([("a", first), ("b", second)], None)
    assert found is not None
    return [
        [text[start:end] for start, end in spans]
        for text, spans in zip((first, second), found.spans, strict=True)
    ]


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        # Worked by hand: "the maize needs mm in may" is common.
        ("The maize needs 120 mm, in May.", "the maize needs 90 mm in early May", [["120"], ["90", "early"]]),
        ("It is 1,000 ha.", "it is 1000 ha", [[], []]),
        ("yes", "no", [["yes"], ["no"]]),
        ("a b c d", "a x y d", [["b c"], ["x y"]]),
        ("玉米需要一百二十毫米的雨水", "玉米需要九十毫米的雨水", [["一百二"], ["九"]]),
        ("मक्का को पानी चाहिए", "मक्का को खाद चाहिए", [["पानी"], ["खाद"]]),
        ("(!) ok", "(?) ok", [["(!)"], ["(?)"]]),
    ],
)  # fmt: skip
def test_what_one_has_and_the_other_has_not_is_marked(first, second, expected):
    assert marked(first, second) == expected


def test_each_is_compared_with_one_and_in_that_what_no_other_has_is_marked():
    answers = [("a", "one two three"), ("b", "one two four"), ("c", "one five three")]
    found = word_differences(answers, "b")
    assert found.against == "b"
    assert [[text[s:e] for s, e in spans] for (_, text), spans in zip(answers, found.spans, strict=True)] == [
        ["three"],
        ["four"],  # "one two" are in a, "one" is in c
        ["five three"],
    ]
    assert word_differences(answers, "nobody").against == "a"


def test_an_empty_answer_is_compared_with_nothing():
    assert word_differences([("a", "one"), ("b", "")], None) is None
    found = word_differences([("a", ""), ("b", "one two"), ("c", "one")], "a")
    assert (found.against, found.spans) == ("b", [[], [(4, 7)], []])


def test_too_long_answers_are_not_compared_and_long_ones_quickly():
    assert word_differences([("a", "word " * (MOST_WORDS + 1)), ("b", "word")], None) is None
    begun = time.process_time()
    word_differences([("a", "maize and beans " * 1_000), ("b", "beans or maize " * 1_000)], None)
    assert time.process_time() - begun < 2  # 0.02 s on a machine that does nothing else
    assert word_differences([("a", "x" * 100_000), ("b", "y" * 100_000)], None).spans == [[(0, 100_000)]] * 2


@given(st.lists(st.sampled_from("abcd"), max_size=30), st.lists(st.sampled_from("abcd"), max_size=30))
def test_what_is_not_marked_is_the_same_in_both(left, right):
    first, second = " ".join(left), " ".join(right)
    found = word_differences([("a", first), ("b", second)], None)
    if found is None:
        return
    kept = []
    for text, spans in zip((first, second), found.spans, strict=True):
        for start, end in reversed(spans):
            text = text[:start] + text[end:]
        kept.append(text.split())
    assert kept[0] == kept[1]
