import msgspec
import pytest
from tests.features.review.rows import BY_ID, QUESTIONS, TREATED, decide, edit, span
from tests.support.builds import ten
from tests.support.review_sets import write_set

from ragstone.features.build.certificate.counting import certify
from ragstone.features.build.certificate.page import write_certificate
from ragstone.features.build.files import row_of, write_build
from ragstone.features.review.decisions import log_path
from ragstone.features.review.reviewing import review_questions
from ragstone.kernel.config import Settings
from ragstone.kernel.dataset.certificate import Certificate, fit
from ragstone.kernel.errors import DataError
from ragstone.kernel.records import Document, Question
from ragstone.kernel.runs.run import read_certificate
from ragstone.kernel.tables import read_rows, write_rows


def write_log(questions, decisions):
    lines = b"".join(msgspec.json.encode(one) + b"\n" for one in decisions)
    log_path(questions).write_bytes(lines)


@pytest.fixture
def built(tmp_path):
    """The build of ten candidates, with its certificate, and the documents beside it."""
    made = ten()
    path = tmp_path / "set" / "questions.jsonl"
    accepted = [one.question for one in made.candidates if one.loss is None]
    path.parent.mkdir()
    write_build(path, accepted, made.candidates, None, force=False)
    write_certificate(path.parent, certify(made), made.candidates)
    texts = {one.document_id: one.text for one in made.passages if one.start == 0}
    rows = [Document(id=name, text=text) for name, text in texts.items()]
    write_rows(path.parent / "documents.jsonl", rows, Document)
    return path


def test_a_reviewed_set_and_its_certificate_agree(built, tmp_path):
    rows = {one.id: one for one in read_rows(built.with_name("questions.all.jsonl"), Question)}
    accepted = [name for name, row in rows.items() if not (row.metadata or {}).get("lost")]
    low = next(
        n for n, row in rows.items() if (row.metadata or {}).get("lost", {}).get("reason") == "low_score"
    )
    write_log(
        built,
        [
            decide(accepted[0], "accept", now=rows[accepted[0]], evidence=None),
            decide(accepted[1], "reject", now=rows[accepted[1]], reason="not_useful", evidence=None),
            decide(low, "accept", now=rows[low], evidence=None),
        ],
    )
    before = read_certificate(built.parent)
    output = tmp_path / "reviewed" / "questions.jsonl"
    made = review_questions(built, output=output, settings=Settings(root=str(tmp_path)))
    now = read_certificate(output.parent)
    assert now == made.certificate
    # One out, one rescued: as many as before; what was written is what it was.
    assert now.funnel.n_accepted == before.funnel.n_accepted == len(made.questions)
    assert now.funnel.n_written == before.funnel.n_written
    assert now.funnel.n_written == now.funnel.n_accepted + sum(one.n for one in now.funnel.losses)
    assert {one.reason: one.n for one in now.funnel.losses}["rejected"] == 1
    assert (now.review.n_accepted, now.review.n_rejected, now.review.n_rescued) == (2, 1, 1)
    assert fit(now, read_rows(output, Question)).n_certified == now.funnel.n_accepted
    assert (now.critics, now.usage, now.documents_digest) == (
        before.critics,
        before.usage,
        before.documents_digest,
    )
    assert '<h2 id="review"' in (output.parent / "certificate.html").read_text()


def test_a_certificate_that_nobody_reviewed_has_no_word_of_a_review():
    assert b"review" not in msgspec.json.encode(certify(ten()))
    assert msgspec.json.decode(msgspec.json.encode(certify(ten())), type=Certificate).review is None


def test_what_was_reviewed_is_not_changed(built, tmp_path):
    write_log(built, [])
    before = {path: path.read_bytes() for path in built.parent.iterdir()}
    review_questions(built, output=tmp_path / "out" / "questions.jsonl")
    assert {path: path.read_bytes() for path in built.parent.iterdir()} == before


def test_another_set_in_the_folder_of_a_certificate_is_refused_with_a_place(built):
    write_log(built, [])
    with pytest.raises(DataError, match=r"reviewed/better\.jsonl"):
        review_questions(built, output=built.with_name("better.jsonl"))


def test_the_set_itself_is_replaced_only_when_asked_and_the_log_still_fits(tmp_path, says):
    path = write_set(tmp_path / "questions")
    write_log(path, [edit("d1#1", question="How does one treat rust?"), decide("d1#2", "accept")])
    with pytest.raises(DataError) as error:
        review_questions(path, output=path)
    says(error.value)
    once = review_questions(path, output=path, force=True)
    says([one.question for one in read_rows(path, Question)][:2])
    assert review_questions(path).questions == once.questions
    assert review_questions(path).numbers == once.numbers


def test_only_what_is_decided_may_be_asked_for(tmp_path):
    path = write_set(tmp_path / "questions")
    write_log(path, [decide("d1#1", "accept")])
    output = tmp_path / "out" / "q.jsonl"
    made = review_questions(path, output=output, only_decided=True)
    assert [one.id for one in made.questions] == ["d1#1"]
    left = {
        one.id: one.metadata["lost"]["reason"]
        for one in read_rows(tmp_path / "out" / "q.all.jsonl", Question)
        if "lost" in one.metadata
    }
    assert left == {"d1#2": "low_score", "d2#1": "undecided"}


def test_splits_are_reviewed_too_and_a_rescued_question_joins_its_document(tmp_path):
    path = write_set(tmp_path / "questions")
    write_rows(path.with_name("questions.dev.jsonl"), [BY_ID["d2#1"]], Question)
    write_rows(path.with_name("questions.test.jsonl"), [BY_ID["d1#1"]], Question)
    rescued = msgspec.structs.replace(BY_ID["d1#2"], document_ids=["d1"])
    write_set(path.parent, [QUESTIONS[0], rescued, QUESTIONS[2]])
    write_log(path, [decide("d1#2", "accept"), decide("d2#1", "reject", reason="language")])
    made = review_questions(path, output=tmp_path / "out" / "q.jsonl")
    assert [one.id for one in read_rows(tmp_path / "out" / "q.test.jsonl", Question)] == ["d1#1", "d1#2"]
    assert [one.name for one in made.files] == ["q.jsonl", "q.all.jsonl", "q.test.jsonl"]


def test_the_agreement_of_critics_with_people_counted_by_hand(tmp_path):
    # Passed by all critics: d1#1 (mended, so not right as it was) and d2#1 (right): precision 1/2, kept 2/2.
    # Rejected: d1#2, which people kept as it is: missed 1/1. Of relevance, threshold 4: passed the same two.
    path = write_set(tmp_path / "questions")
    write_log(
        path,
        [
            edit("d1#1", question="How does one treat rust?"),
            decide("d1#2", "accept"),
            decide("d2#1", "accept"),
        ],
    )
    together, *each = review_questions(path).numbers.critics
    assert (together.critic, together.n_passed, together.n_passed_as_it_was, together.n_passed_kept) == (
        "filter",
        2,
        1,
        2,
    )
    assert (together.precision.value, together.kept.value, together.missed.value) == (0.5, 1.0, 1.0)
    # Groundedness passed all three (5, 5, 4), two of them right as they were.
    assert [(one.critic, one.n_passed, one.n_passed_as_it_was) for one in each] == [
        ("groundedness", 3, 2),
        ("relevance", 2, 1),
    ]


def test_tags_may_be_changed_and_the_question_was_right_as_it_was(tmp_path):
    path = write_set(tmp_path / "questions")
    write_log(path, [edit("d1#1", tags={"crop": "wheat"})])
    numbers = review_questions(path).numbers
    assert (numbers.n_edited, numbers.critics[0].n_passed_as_it_was) == (1, 1)


def test_a_log_that_is_missing_or_broken_is_told_by_its_lines(tmp_path):
    path = write_set(tmp_path / "questions")
    with pytest.raises(DataError, match="no such log"):
        review_questions(path)
    good = msgspec.json.encode(decide("d1#1", "accept")).decode()
    log_path(path).write_text(f'{good}\n{{"id": 3}}\nnonsense\n{good[:20]}')
    with pytest.raises(DataError, match=r"review\.jsonl:2:.*\n.*review\.jsonl:3:"):
        review_questions(path)
    log_path(path).write_text(f"{good}\n{good[:20]}")  # the machine stopped in the midst of a line
    assert review_questions(path).numbers.n_accepted == 1


def test_documents_elsewhere_are_named(tmp_path):
    path = write_set(tmp_path / "questions", documents=None)
    write_log(path, [decide("d1#1", "accept")])
    there = tmp_path / "texts.jsonl"
    write_rows(there, [Document(id="d1", text=f"Now: rust is {TREATED}.")], Document)
    assert review_questions(path).documents is None
    (found,) = review_questions(path, documents=there).questions[0].evidence
    assert found.start == len("Now: rust is ") != span("d1", TREATED).start


def test_a_lost_candidate_is_written_and_read_as_the_build_does():
    lost = next(one for one in ten().candidates if one.loss)
    assert row_of(lost).metadata["lost"]["reason"] == lost.loss.reason
