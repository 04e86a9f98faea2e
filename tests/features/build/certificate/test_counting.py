import random

import msgspec
import pytest
from tests.support.builds import TEN, build_of, candidate, facts, ten
from tests.support.golden import check_golden

from ragstone.features.build.certificate.counting import certify
from ragstone.kernel.dataset.certificate import Certificate, Fit, fit, question_digest
from ragstone.kernel.records import Question, Usage
from ragstone.kernel.tables import read_rows, write_rows
from ragstone.kernel.version import __version__

ACCEPTED = [one.question for one in TEN if one.loss is None]


def test_certificate_of_the_ten_is_as_it_was():
    found = msgspec.json.format(msgspec.json.encode(certify(ten())), indent=2).decode() + "\n"
    found = found.replace(f'"version": "{__version__}"', '"version": "of this test"')
    check_golden("certificate/certificate.json", found)


def test_the_same_build_has_the_same_bytes_and_is_read_back():
    certificate = certify(ten())
    written = msgspec.json.encode(certificate)
    assert msgspec.json.encode(certify(ten())) == written
    assert msgspec.json.decode(written, type=Certificate) == certificate


def test_rates_of_the_ten():
    certificate = certify(ten())
    # One near duplicate of ten; asked without a document were d1#1 and d1#2, which was known, or guessed.
    assert (certificate.near_duplicates.value, certificate.near_duplicates.n) == (0.1, 10)
    known = certificate.closed_book
    assert (known.n_asked, known.n_known, known.n_guessable, known.n_failed) == (2, 1, 1, 1)
    assert (known.rate.value, known.n_accepted_known) == (0.5, 1)


def test_where_nobody_asked_without_a_document_there_is_no_rate():
    assert certify(build_of([candidate("d1#1", "Q?")])).closed_book is None


def test_facts_are_counted_by_truth_and_by_what_was_changed():
    certificate = certify(facts())
    groups = {
        by: {group.value: (group.n_accepted, group.n_written) for group in found}
        for by, found in certificate.coverage.groups.items()
    }
    assert groups["kind"] == {"true": (2, 3), "false": (1, 2)}
    assert groups["change"] == {"number": (1, 1), "negation": (0, 1)}
    assert certificate.coverage.answer_lengths is None  # they are all "true" or "false"
    assert not any("critic" in caution for caution in certificate.cautions)


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        ({"document_ids": [], "empty": [], "passages": [], "n_asked": 0}, "because no document was given."),
        ({"document_ids": ["a"], "empty": ["a"], "n_asked": 0}, "because no document has text."),
        ({"n_asked": 0}, "because no question was asked for."),
        ({"failed": []}, "because the model was asked for 12 and wrote none."),
        ({}, "because 2 calls gave nothing (1 unparsable, 1 timed out)."),
        (
            {"candidates": [candidate("d1#1", "", lost="empty")]},
            "because the one that was written was lost: 1 (the question or the answer is empty); 2 calls "
            "gave nothing (1 unparsable, 1 timed out).",
        ),
    ],
)
def test_a_build_without_a_question_has_a_certificate_that_says_why(changed, why, says):
    certificate = certify(build_of([], **changed))
    says(certificate.cautions)
    assert certificate.funnel.n_accepted == 0
    assert certificate.question_digests == []


def test_a_build_of_nothing_at_all_is_certified():
    nothing = build_of(
        [], document_ids=[], empty=[], split=[], passages=[], failed=[], critics=[], usage=Usage(calls=0)
    )
    certificate = certify(nothing)
    assert (certificate.near_duplicates, certificate.scores, certificate.critics) == (None, [], [])


def test_the_questions_of_the_file_are_known_again_whatever_its_format(tmp_path):
    certificate = certify(ten())
    for name in ("questions.jsonl", "questions.parquet"):
        write_rows(tmp_path / name, ACCEPTED, Question)
        read = read_rows(tmp_path / name, Question)
        assert fit(certificate, read) == Fit(n=4, n_certified=4, of=4, first=True)


def test_a_part_of_the_set_is_known_again():
    certificate = certify(ten())
    assert fit(certificate, ACCEPTED[:2]) == Fit(n=2, n_certified=2, of=4, first=True)
    assert fit(certificate, ACCEPTED[2:]) == Fit(n=2, n_certified=2, of=4, first=False)
    assert fit(certificate, []) == Fit(n=0, n_certified=0, of=4, first=True)


@pytest.mark.parametrize(
    "changed",
    [
        {"id": "d1#9"},
        {"question": "How is rust treated"},
        {"reference": "with a fungicide"},
        {"evidence": None},
        {"document_ids": ["d2"]},
        {"answerable": False},
        {"kind": "multi"},
        {"lang": "de"},
    ],
    ids=lambda changed: next(iter(changed)),
)
def test_a_question_that_was_changed_is_not_the_certified_one(changed):
    other = msgspec.structs.replace(ACCEPTED[0], **changed)
    assert fit(certify(ten()), [other, *ACCEPTED[1:]]) == Fit(n=4, n_certified=3, of=4, first=False)


def test_tags_that_come_later_do_not_unmake_it():
    tagged = msgspec.structs.replace(ACCEPTED[0], tags={"topic": "rust"}, scores=None, metadata=None)
    assert question_digest(tagged) == question_digest(ACCEPTED[0])


def test_digests_follow_the_documents_and_the_order():
    certificate = certify(ten())
    other = certify(msgspec.structs.replace(ten(), passages=ten().passages[::-1]))
    assert other.documents_digest != certificate.documents_digest
    assert other.questions_digest == certificate.questions_digest
    rows = list(TEN)
    random.Random(3).shuffle(rows)
    assert certify(build_of(rows)).questions_digest != certificate.questions_digest
