import json

import msgspec
import pytest
from tests.features.review.rows import BY_ID, DOCUMENTS, MAIS, QUESTIONS, RUST, TREATED, quoted, span
from tests.support.golden import sentence_in
from tests.support.review_sets import reviewing, write_set

from ragstone.features.review.applying import apply_review
from ragstone.kernel.records import Document, Question
from ragstone.kernel.tables import write_rows


@pytest.fixture
def reviewer(tmp_path):
    with reviewing(tmp_path) as found:
        yield found


def test_the_list_shows_what_was_accepted_and_what_was_lost_and_why(reviewer, says):
    page = reviewer.get()
    assert page.status_code == 200
    says(sentence_in(page.text, "How is rust"))
    says(sentence_in(page.text, "a critic gave"))
    says(sentence_in(page.text, "0 of 3 questions"))


@pytest.mark.parametrize(
    ("query", "shown"),
    [
        ({"state": "undecided"}, {"d1#1", "d1#2", "d2#1"}),
        ({"source": "lost"}, {"d1#2"}),
        ({"source": "passed"}, {"d1#1", "d2#1"}),
        ({"critic": "relevance", "most": "3"}, {"d1#2"}),
        ({"critic": "groundedness", "most": "4"}, {"d2#1"}),
        ({"tag": "lang=hi"}, {"d2#1"}),
        ({"text": "WHEAT"}, {"d1#2"}),
        ({"state": "accepted"}, set()),
    ],
)
def test_the_list_gives_what_is_asked_for(reviewer, query, shown):
    text = reviewer.get(**query).text
    assert {name for name, row in BY_ID.items() if row.question in text} == shown


def test_a_question_is_shown_with_its_evidence_marked_and_the_critics_reasons(tmp_path):
    row = msgspec.structs.replace(QUESTIONS[0], metadata={"rationales": {"groundedness": "It says so."}})
    with reviewing(tmp_path, questions=[row]) as reviewer:
        text = reviewer.get("/question", question="d1#1").text
    assert f"<mark>{TREATED}</mark>" in text
    assert "It says so." in text
    assert "Rust 🌾 is" in text


def test_what_the_application_answered_is_a_draft_where_there_is_no_reference(tmp_path):
    answer = "In spring, they say."
    drafted, referred = (
        msgspec.structs.replace(row, reference=reference, metadata={"answer": answer})
        for row, reference in zip(QUESTIONS, (None, "In May."), strict=False)
    )
    with reviewing(tmp_path, questions=[drafted, referred]) as reviewer:
        text = reviewer.get("/question", question=drafted.id).text
        other = reviewer.get("/question", question=referred.id).text
    assert text.count(answer) == 1
    assert 'id="use-draft"' in text
    assert 'id="use-draft"' not in other
    assert answer in other  # as a note


def test_decisions_are_on_the_disk_and_change_no_file_of_the_set(reviewer, says):
    before = reviewer.path.read_bytes()
    assert reviewer.decide("d1#1", "accept").status_code == 201
    assert reviewer.decide("d1#2", "accept").status_code == 201
    assert reviewer.decide("d2#1", "reject", reason="language", comment="broken").status_code == 201
    assert [one.decision for one in reviewer.log()] == ["accept", "accept", "reject"]
    assert [one.text for one in reviewer.log()[0].evidence] == [TREATED]
    assert reviewer.path.read_bytes() == before
    found = reviewer.get("/reviewed.jsonl")
    assert [json.loads(line)["id"] for line in found.text.splitlines()] == ["d1#1", "d1#2"]
    says(sentence_in(reviewer.get().text, "3 of 3 questions"))


def test_the_reviewed_set_is_the_same_from_the_page_and_from_the_log(reviewer):
    reviewer.decide("d1#1", "edit", change={"question": "How does one treat rust?"})
    reviewer.decide("d1#2", "accept")
    there = [json.loads(line) for line in reviewer.get("/reviewed.jsonl").text.splitlines()]
    applied = apply_review(QUESTIONS, reviewer.log(), DOCUMENTS)
    assert there == msgspec.to_builtins(applied)


def test_an_undo_takes_back_the_last_decision_of_whoever_asks(reviewer, says):
    reviewer.decide("d1#1", "accept")
    reviewer.decide("d2#1", "accept")
    assert reviewer.post("undo", id="undo-0001").json()["question_id"] == "d2#1"
    assert reviewer.post("undo", id="undo-0002").json()["question_id"] == "d1#1"
    gone = reviewer.post("undo", id="undo-0003")
    assert gone.status_code == 400
    says(gone.json()["detail"])


def test_what_is_sent_twice_counts_once(reviewer):
    body = {"id": "the-same-1", "question_id": "d1#1", "decision": "accept", "stands": ""}
    assert reviewer.post("decide", **body).status_code == 201
    assert reviewer.post("decide", **body).status_code == 201
    assert len(reviewer.log()) == 1


def test_an_id_that_another_decision_has_is_refused(reviewer):
    body = {"id": "the-same-1", "question_id": "d1#1", "stands": ""}
    assert reviewer.post("decide", **body, decision="accept").status_code == 201
    refused = reviewer.post("decide", **body, decision="reject", reason="ambiguous")
    assert (refused.status_code, len(reviewer.log())) == (400, 1)


def test_the_second_of_two_is_told_before_anything_is_overwritten(tmp_path, says):
    with reviewing(tmp_path, name="ana") as ana, reviewing(tmp_path, name="bo") as bo:
        assert ana.decide("d1#1", "reject", reason="ambiguous").status_code == 201
        late = bo.decide("d1#1", "accept", stands="")
        assert late.status_code == 409
        says(late.json()["detail"])
        assert len(bo.log()) == 1
        assert bo.decide("d1#1", "accept").status_code == 201  # all the same, after having been told
        assert "ana" in ana.get("/question", question="d1#1").text  # the other server sees both


def test_an_annotator_decides_and_edits_nothing(tmp_path):
    with reviewing(tmp_path, "annotator") as reviewer:
        assert reviewer.decide("d1#1", "accept").status_code == 201
        refused = reviewer.decide("d1#1", "edit", change={"question": "Other?"})
        assert refused.status_code == 403
        text = reviewer.get("/question", question="d1#1").text
        assert 'data-do="accept"' in text
        assert 'id="editing"' not in text


def test_a_reader_looks_and_decides_nothing(tmp_path):
    with reviewing(tmp_path, "reader") as reviewer:
        refused = reviewer.post("decide", id="by-a-reader", question_id="d1#1", decision="accept", stands="")
        assert refused.status_code == 403
        assert 'data-do="accept"' not in reviewer.get("/question", question="d1#1").text
        part = reviewer.client.get(f"{reviewer.base}/part", params={"document": "d1"})
        assert "".join(one["text"] for one in part.json()["pieces"]) == RUST


def test_who_is_no_owner_takes_back_no_decision_of_others(tmp_path):
    with reviewing(tmp_path, name="ana") as ana, reviewing(tmp_path, "annotator", "bo") as bo:
        ana.decide("d1#1", "accept")
        refused = bo.post("undo", id="undo-0001", question_id="d1#1")
        assert (refused.status_code, "ana decided this" in refused.json()["detail"]) == (403, True)
        bo.decide("d2#1", "accept")
        assert ana.post("undo", id="undo-0002", question_id="d2#1").status_code == 201


def test_marked_words_become_evidence_in_code_points(reviewer):
    # In UTF-16 "Rust 🌾 is " has 11 units, in code points 10.
    marking = {"document_id": "d1", "start": 0, "end": len(RUST), "marked_from": 11, "marked_to": 18}
    found = reviewer.post("mark", **marking, words="treated").json()
    assert found == {"document_id": "d1", "start": 10, "end": 17, "text": "treated"}
    assert reviewer.decide("d1#1", "edit", change={"evidence": [found]}).status_code == 201
    (row, *_) = [json.loads(one) for one in reviewer.get("/reviewed.jsonl").text.splitlines()]
    (there,) = row["evidence"]
    assert RUST[there["start"] : there["end"]] == "treated"


def test_a_part_of_a_character_is_marked_whole(reviewer):
    # Marked is म and क of मक्का: the virama that belongs to क comes with it.
    marking = {"document_id": "d2", "start": 0, "end": len(MAIS), "marked_from": 0, "marked_to": 2}
    assert reviewer.post("mark", **marking, words=MAIS[:2]).json()["text"] == "मक्"


def test_marks_of_a_document_that_changed_are_refused(reviewer):
    marking = {"document_id": "d1", "start": 0, "end": 30, "marked_from": 0, "marked_to": 4}
    refused = reviewer.post("mark", **marking, words="Other")
    assert (refused.status_code, "reload the page" in refused.json()["detail"]) == (400, True)


def test_words_are_found_where_no_mouse_marks_them(reviewer, says):
    says(reviewer.post("find", document_id="d1", words="sow  wheat in october").json()["text"])
    missing = reviewer.post("find", document_id="d1", words="Sow barley in spring")
    assert missing.status_code == 400
    says(sentence_in(missing.json()["detail"], "These words"))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"question": " "}, "The question is empty"),
        ({}, "Nothing was changed"),
        ({"question": "How is rust treated?"}, "Nothing was changed"),
        ({"answerable": False}, "has no reference and no evidence"),
        (
            {"evidence": [{"document_id": "d1", "start": 60, "end": 100, "text": "x" * 40}]},
            "not part of 'd1'",
        ),
        (
            {"evidence": [{"document_id": "d1", "start": 0, "end": 4, "text": "Dust"}]},
            "its text is different there",
        ),
        (
            {"evidence": [{"document_id": "d1", "start": 0, "end": 4, "text": "Rusty"}]},
            "5 characters for [0:4]",
        ),
        ({"evidence": [{"document_id": "d9", "start": 0, "end": 4, "text": "Rust"}]}, "no document 'd9'"),
        ({"kind": "riddle"}, "is not valid"),
        ({"id": "d1#2"}, "is not valid"),
    ],
)
def test_what_cannot_be_is_refused_and_nothing_written(reviewer, change, words):
    refused = reviewer.decide("d1#1", "edit", change=change)
    assert refused.status_code in (400, 422)
    assert words in json.dumps(refused.json()).replace('\\"', '"')
    assert reviewer.log() == []


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({"question_id": "d9#9"}, 404),
        ({"id": "x"}, 400),
        ({"id": "../../etc/passwd"}, 400),
        ({"decision": "burn"}, 400),
        ({"decision": "reject"}, 400),
        ({"decision": "reject", "reason": "mood"}, 400),
        ({"decision": "reject", "reason": "other"}, 400),
    ],
)
def test_odd_decisions_are_refused(reviewer, body, status):
    sent = {"id": "decision-1", "question_id": "d1#1", "decision": "accept", "stands": "", **body}
    assert reviewer.post("decide", **sent).status_code == status
    assert reviewer.log() == []


def test_an_unknown_set_is_said_to_be_missing(reviewer, says):
    missing = reviewer.client.get("/workbench/review/0123456789ab")
    assert missing.status_code == 404
    says(sentence_in(missing.text, "no such data"))


def test_checks_speak_while_one_types(reviewer, says):
    said = reviewer.post(
        "check", question_id="d1#1", change={"question": "When is wheat sown according to the passage?"}
    )
    assert any("mentions the passage" in one for one in said.json()["warnings"])
    said = reviewer.post(
        "check", question_id="d1#1", change={"question": "Wann sät man den Weizen im Herbst aus?"}
    )
    says("\n".join(said.json()["warnings"]))
    said = reviewer.post("check", question_id="d2#1", change={"question": "Is ana@example.org right?"})
    says("\n".join(said.json()["warnings"]))


def test_a_question_that_repeats_another_is_told(tmp_path, says):
    second = msgspec.structs.replace(QUESTIONS[0], id="d1#3", question="Who reaps?")
    with reviewing(tmp_path, questions=[QUESTIONS[0], second]) as reviewer:
        said = reviewer.post("check", question_id="d1#3", change={"question": "how is rust TREATED"})
        says("\n".join(said.json()["warnings"]))


def test_without_documents_the_page_says_so_and_no_evidence_is_taken(tmp_path, says):
    with reviewing(tmp_path, documents=None) as reviewer:
        says(sentence_in(reviewer.get().text, "There are no"))
        says(sentence_in(reviewer.get("/question", question="d1#1").text, "There are no"))
        row = msgspec.to_builtins(quoted("d1", "Reap in July"))
        refused = reviewer.decide("d1#1", "edit", change={"evidence": [row]})
        says(refused.json()["detail"])
        assert reviewer.decide("d1#1", "accept").status_code == 201


def test_wrong_offsets_are_shown_as_wrong(tmp_path, says):
    wrong = msgspec.structs.replace(
        QUESTIONS[0], evidence=[msgspec.structs.replace(span("d1", TREATED), start=500, end=600)]
    )
    with reviewing(tmp_path, questions=[wrong]) as reviewer:
        text = reviewer.get("/question", question="d1#1").text
        says(sentence_in(text, "Its evidence"))
        assert reviewer.decide("d1#1", "accept").status_code == 201


def test_a_file_that_changes_under_the_reviewer_is_read_anew_and_told(reviewer, says):
    reviewer.decide("d1#1", "accept")
    documents = [Document(id="d1", text="Rust is left alone."), DOCUMENTS[1]]
    write_rows(reviewer.path.parent / "documents.jsonl", documents, Document, force=True)
    text = reviewer.get("/question", question="d1#1").text
    says(sentence_in(text, "the document"))
    assert reviewer.get(state="look").text.count("data-row") == 1
    moved = [Document(id="d1", text=f"New. {RUST}"), DOCUMENTS[1]]
    write_rows(reviewer.path.parent / "documents.jsonl", moved, Document, force=True)
    assert f"<mark>{TREATED}</mark>" in reviewer.get("/question", question="d1#1").text


def test_a_set_that_was_built_anew_asks_for_another_look(reviewer, says):
    reviewer.decide("d1#1", "accept")
    anew = [msgspec.structs.replace(QUESTIONS[0], question="Who treats rust?"), *QUESTIONS[1:]]
    write_set(reviewer.path.parent, anew)
    says(
        sentence_in(
            reviewer.get("/question", question="d1#1").text,
            "its text is",
        )
    )


EVIL = "<script>alert(1)</script>\"'><img src=x onerror=alert(2)>"


def test_markup_in_every_field_is_text(tmp_path):
    row = Question(
        id=EVIL,
        question=EVIL,
        reference=[EVIL, EVIL],
        evidence=[msgspec.structs.replace(span("d1", "Rust"), document_id=EVIL, start=0, end=10)],
        document_ids=[EVIL],
        tags={EVIL: EVIL},
        lang=EVIL,
        scores={EVIL: 2.0},
        metadata={
            "rationales": {EVIL: EVIL},
            "lost": {"step": EVIL, "reason": EVIL, "detail": EVIL},
            EVIL: {EVIL: EVIL},
        },
    )
    document = Document(id=EVIL, text=EVIL * 3, title=EVIL)
    kept = msgspec.structs.replace(QUESTIONS[0])
    with reviewing(tmp_path, name=EVIL, questions=[row, kept], documents=[document, *DOCUMENTS]) as reviewer:
        done = reviewer.decide(EVIL, "reject", reason="other", comment=EVIL)
        assert done.status_code == 201
        for page in (
            reviewer.get(),
            reviewer.get("/question", question=EVIL),
            reviewer.get(text=EVIL, tag=EVIL),
        ):
            assert page.status_code == 200
            assert "<script>alert" not in page.text
            assert "<img" not in page.text


@pytest.mark.long
def test_ten_thousand_questions_are_paged(tmp_path, says):
    many = [
        msgspec.structs.replace(QUESTIONS[0], id=f"d1#{n}", question=f"How is rust number {n} treated?")
        for n in range(1, 10_001)
    ]
    with reviewing(tmp_path, questions=many) as reviewer:
        page = reviewer.get(at=200)
        assert page.text.count("data-row") == 50
        says(sentence_in(page.text, "Page 200 of"))
        assert "rust number 10000" in page.text
        assert len(page.content) < 100_000
        assert reviewer.decide("d1#9999", "accept").status_code == 201
