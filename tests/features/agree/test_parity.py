"""A judge in several languages: pairs, flips, what is left out, and means corrected by language."""

from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis.strategies import lists, sampled_from
from tests.support.plain_rows import judgement_row

from ragstone.features.agree._parity import (
    LanguageCopy,
    corrected_by_language,
    language_parity,
    without_language,
)
from ragstone.kernel.errors import DataError
from ragstone.kernel.records import Label


def rows_of(scores, system="s", **more):
    """Judgements of questions `LANG:KEY` with these scores, None for one that failed; and their copies."""
    rows = [
        judgement_row(
            question_id=f"{lang}:{key}",
            system=system,
            score=score,
            status="error" if score is None else "scored",
            **more,
        )
        for (lang, key), score in scores.items()
    ]
    return rows, {f"{lang}:{key}": LanguageCopy(str(key), lang) for lang, key in scores}


def test_flips_and_the_direction_are_counted_over_pairs():
    # 20 questions. In Spanish 6 of the 10 right ones are wrong, none the other way: 6 of 20 flip, and the
    # mean is 0.3 lower. McNemar's exact test of 6 against 0: 2 * (1/2)^6 = 0.03125.
    english = {("en", at): float(at < 10) for at in range(20)}
    spanish = {("es", at): float(6 <= at < 10) for at in range(20)}
    [row] = language_parity(*rows_of(english | spanish))
    assert (row.lang, row.base, row.n, row.n_questions) == ("es", "en", 20, 20)
    assert row.flips.value == pytest.approx(0.3)
    assert row.difference.value == pytest.approx(-0.3)
    assert (row.p, row.p_holm, row.family) == (pytest.approx(0.03125), pytest.approx(0.03125), 1)
    assert row.verdict == "lower"


def test_languages_are_corrected_together():
    english = {("en", at): float(at < 10) for at in range(20)}
    others = {(lang, at): float(6 <= at < 10) for lang, at in product(("de", "es"), range(20))}
    rows = language_parity(*rows_of(english | others))
    assert [(row.lang, row.p_holm, row.family, row.verdict) for row in rows] == [
        ("de", pytest.approx(0.0625), 2, "cannot tell"),
        ("es", pytest.approx(0.0625), 2, "cannot tell"),
    ]


def test_nothing_is_dropped_uncounted():
    scores = {
        ("en", 1): 1.0, ("es", 1): 1.0,  # a pair
        ("en", 2): 1.0, ("es", 2): None,  # without a score
        ("en", 3): None, ("es", 3): None,
        ("es", 4): 1.0,  # not in English
        ("en", 5): 1.0, ("en", 6): 1.0, ("en", 7): 0.0,  # only in English
    }  # fmt: skip
    rows, copies = rows_of(scores)
    copies["es:4"] = LanguageCopy(None, "es")
    stray = judgement_row(question_id="x", system="s", score=1.0)
    [row] = language_parity([*rows, stray], copies)
    assert (row.n, row.unscored, row.unpaired, row.unpaired_base) == (1, 2, 1, 3)
    assert row.verdict == "cannot tell"
    assert without_language([*rows, stray], copies) == 1


def test_few_pairs_cannot_tell_however_they_differ():
    nine = {(lang, at): float(lang == "en") for lang, at in product(("en", "es"), range(9))}
    [row] = language_parity(*rows_of(nine))
    assert (row.difference.value, row.p < 0.01, row.verdict) == (-1.0, True, "cannot tell")
    [row] = language_parity(*rows_of(nine | {("en", 9): 1.0, ("es", 9): 0.0}))
    assert row.verdict == "lower"


def test_answers_of_several_systems_to_a_question_are_one_cluster():
    scores = {(lang, at): float(lang == "es" or at > 2) for lang, at in product(("en", "es"), range(12))}
    rows, copies = rows_of(scores)
    again, _ = rows_of(scores, system="other")
    [row] = language_parity([*rows, *again], copies)
    [alone] = language_parity(rows, copies)
    assert (row.n, row.n_questions) == (24, 12)
    # Both systems say the same: nothing more is known than from one.
    assert row.flips.value == alone.flips.value == 0.25
    assert row.flips.high - row.flips.low == pytest.approx(alone.flips.high - alone.flips.low, abs=0.1)


def test_scores_that_are_no_grades_have_flips_only_where_they_are_cut():
    scores = {(lang, at): (at + (lang == "es")) / 100 for lang, at in product(("en", "es"), range(40, 60))}
    rows, copies = rows_of(scores)
    [row] = language_parity(rows, copies)
    assert (row.flips, row.verdict) == (None, "higher")
    assert row.difference.value == pytest.approx(0.01)
    [row] = language_parity(rows, copies, threshold=0.5)
    assert row.flips.value == pytest.approx(1 / 20)  # 0.49 in English is 0.50 in Spanish


def test_each_judge_has_rows_of_its_own():
    scores = dict.fromkeys(product(("en", "es"), range(3)), 1.0)
    rows, copies = rows_of(scores)
    others, _ = rows_of(scores, prompt_version=2)
    others = [row for row in others if row.question_id != "en:0"]
    found = language_parity([*rows, *others], copies)
    assert [(row.prompt_version, row.n, row.unpaired) for row in found] == [(1, 3, 0), (2, 2, 1)]
    assert [row.difference.low for row in found] == [None, None]  # nothing varies


PAIR = sampled_from([*product((0.0, 1.0), repeat=2)])


@settings(max_examples=20)
@given(lists(PAIR, min_size=1, max_size=15))
def test_the_other_way_round_everything_is_turned(pairs):
    scores = {}
    for at, (first, second) in enumerate(pairs):
        scores |= {("en", at): first, ("es", at): second}
    rows, copies = rows_of(scores)
    [one] = language_parity(rows, copies, resamples=200)
    [other] = language_parity(rows, copies, base="es", resamples=200)
    assert one.flips == other.flips
    assert one.difference.value == pytest.approx(-other.difference.value)
    assert one.p == other.p


def test_what_cannot_be_compared_is_said(says):
    rows, copies = rows_of({("en", 1): 1.0, ("es", 1): 1.0})
    with pytest.raises(DataError) as error:
        language_parity(rows, copies, base="fr")
    says(error.value)
    with pytest.raises(DataError) as error:
        language_parity(rows, {})
    says(error.value)
    copies["es:again"] = LanguageCopy("1", "es")
    with pytest.raises(DataError) as error:
        language_parity([*rows, judgement_row(question_id="es:again", system="s", score=0.0)], copies)
    says(error.value)


@pytest.mark.parametrize("named", ["s", "default"])
def test_means_are_corrected_in_each_language_alone(named):
    # Spanish: people say 1 1 0 0 of four answers, the judge 1 1 1 0, of four others 1 0 0 0. The corrected
    # mean is 1/3, as worked out in docs/explanation/corrected-scores.md. English: the judge is always right.
    spanish = [1, 1, 1, 0, 1, 0, 0, 0]
    rows, copies = rows_of(
        {("es", at): float(score) for at, score in enumerate(spanish)}
        | {("en", at): float(at % 2) for at in range(8)}
    )
    people = {"es": [1, 1, 0, 0], "en": [0, 1, 0, 1]}
    labels = [
        Label(question_id=f"{lang}:{at}", system=named, metric="correctness", score=score)
        for lang, given_ in people.items()
        for at, score in enumerate(given_)
    ]
    found = {mean.system: mean for mean in corrected_by_language(rows, labels, copies)}
    es, en = ("es", "en") if named == "default" else ("s, es", "s, en")
    assert set(found) == {es, en}
    assert found[es].corrected.value == pytest.approx(1 / 3)
    assert (found[en].raw.value, found[en].n_labelled, found[en].n_rows) == (0.5, 4, 8)
