"""The table of sentences as a whole: docs/reference/sentences.md shows it."""

import re
from string import Formatter

import pytest
from tests.support.golden import GOLDEN, read_sentences
from tests.support.sentences import codes_in, every, may_hold, said_somewhere

from ragstone.kernel.sentences import Sentence, say, tables


def test_a_table_is_found_in_every_folder_that_has_one():
    assert {folder for folder, _ in tables()} >= {"kernel.agreement", "features.report"}


def test_the_first_sentence_whose_condition_holds_is_said_and_no_other():
    def of(code: str, least: int) -> Sentence[int]:
        return Sentence[int](
            code=code,
            text=f"{code}: {{n}}",
            when=f"{least} or more",
            holds=lambda n: n >= least,
            needs={"n": "n"},
            fills=lambda n: {"n": f"{n:,}"},
        )

    many, some = of("many", 1000), of("some", 1)
    assert [say(n, many, some) for n in (2000, 5, 0)] == ["many: 2,000", "some: 5", ""]


def test_a_number_is_not_made_up_where_the_condition_fails():
    never = Sentence[int](
        code="never", text="{n}", when="never", holds=lambda _: False, fills=lambda n: {"n": f"{1 / n}"}
    )
    assert say(0, never) == ""


@pytest.mark.parametrize("code", every())
def test_each_code_is_kebab_case_and_each_sentence_names_its_condition_and_numbers(code: str):
    sentence = every()[code]
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", code)
    assert sentence.when
    assert {name for _, name, _, _ in Formatter().parse(sentence.text) if name} == {*sentence.needs}
    assert {*sentence.never_beside} <= {*every()} - {code}


def test_every_sentence_is_said_in_a_golden_text():
    texts = [
        " ".join(text.split())
        for file in (GOLDEN / "sentences").glob("*.txt")
        for told in read_sentences(file).values()
        for text in told
    ]
    assert [code for code in every() if not said_somewhere(code, texts)] == []


@pytest.mark.long
def test_no_golden_text_says_what_must_not_be_said_together():
    table = every()
    pairs = [(a, b) for a in table for b in table[a].never_beside]
    for file in (GOLDEN / "sentences").glob("*.txt"):
        for told in read_sentences(file).values():
            parts = (part for text in told for part in text.split("\n\n"))  # of several cards one each
            for text in (" ".join(part.split()) for part in parts):
                near = [(a, b) for a, b in pairs if may_hold(a, text) and may_hold(b, text)]
                here = codes_in(text) if near else set()
                assert not [(a, b) for a, b in near if a in here and b in here], text
