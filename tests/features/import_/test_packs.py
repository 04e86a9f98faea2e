"""Real data in the forms of others: what is imported is what the packs hold."""

import csv
import json
from collections import defaultdict
from pathlib import Path

import pytest
from tests.support.command import ragstone

from ragstone import Document, Question, read_rows
from ragstone.features.import_._rows import ImportOptions
from ragstone.features.import_.importing import import_set, import_to_folder
from ragstone.kernel.records import references

pytestmark = pytest.mark.pack


def documents_in(pack: Path):
    return list(read_rows(pack / "documents.jsonl", Document))


def questions_in(pack: Path):
    return list(read_rows(pack / "questions.jsonl", Question))


def squad_of(documents, questions):
    """Return SQuAD's form of documents whose ids are an article and a number; offsets count code points."""
    asked = defaultdict(list)
    for question in questions:
        (document_id,) = question.document_ids or [question.metadata["document_id"]]
        asked[document_id].append(question)
    articles = defaultdict(list)
    for document in documents:
        qas = [qa_of(question, document.text) for question in asked[document.id]]
        articles[document.id.rpartition("-")[0]].append({"context": document.text, "qas": qas})
    return {"version": "x", "data": [{"title": t, "paragraphs": found} for t, found in articles.items()]}


def qa_of(question, text):
    plausible = (question.metadata or {}).get("plausible_answer")
    answers = [{"text": one, "answer_start": text.index(one)} for one in references(question) if one in text]
    tempting = [{"text": plausible, "answer_start": text.find(plausible)}] if plausible else []
    impossible = question.answerable is False
    return {
        "id": question.id,
        "question": question.question,
        "answers": answers,
        "is_impossible": impossible,
        **({"plausible_answers": tempting} if impossible else {}),
    }


@pytest.mark.parametrize("language", ["hi", "zh", "ar"])
def test_xquad_comes_back_with_its_paragraphs_answers_and_evidence(shared_data, tmp_path, language):
    pack = shared_data / "xquad"
    documents = [one for one in documents_in(pack) if one.lang == language]
    questions = [one for one in questions_in(pack) if one.lang == language]
    (tmp_path / "x.json").write_text(json.dumps(squad_of(documents, questions)), encoding="utf-8")
    found = import_set(tmp_path / "x.json")
    check_squad(found, documents, questions)
    right = sum(question.lang == language for question in found.questions)
    assert right >= 0.98 * len(questions)  # what is too short to tell has its paragraph's language
    assert all(document.lang == language for document in found.documents)


def test_squad_2_comes_back_with_what_cannot_be_answered(shared_data, tmp_path):
    pack = shared_data / "squad2"
    documents, questions = documents_in(pack), questions_in(pack)
    (tmp_path / "x.json").write_text(json.dumps(squad_of(documents, questions)), encoding="utf-8")
    found = import_set(tmp_path / "x.json")
    check_squad(found, documents, questions)
    assert found.summary.n_unanswerable == 1414
    texts = {document.id: document.text for document in found.documents}
    by_id = {question.id: question for question in questions}
    for question in found.questions:
        plausible = (by_id[question.id].metadata or {}).get("plausible_answer")
        if question.answerable is False and plausible:
            span = question.metadata["tempting"]
            assert texts[span["document_id"]][span["start"] : span["end"]] == plausible


def check_squad(found, documents, questions):
    assert found.summary.remarks == []
    assert [one.text for one in found.documents] == [one.text for one in documents]
    names = dict(zip((one.id for one in found.documents), documents, strict=True))
    given = {question.id: question for question in questions}
    assert {question.id for question in found.questions} == given.keys()
    for question in found.questions:
        origin = given[question.id]
        in_text = [one for one in references(origin) if one in names_of(origin, documents)]
        assert question.question == origin.question
        assert references(question) == in_text
        assert question.answerable is (origin.answerable is not False)
        said = {names[e.document_id].text[e.start : e.end] for e in question.evidence or ()}
        assert said == {one.strip() for one in in_text}
        if question.answerable:
            assert [names[name].id for name in question.document_ids] == origin.document_ids


def names_of(question, documents):
    texts = {document.id: document.text for document in documents}
    return texts[(question.document_ids or [""])[0]] if question.document_ids else ""


def test_utf_16_offsets_of_a_whole_file_are_converted(shared_data, tmp_path):
    pack = shared_data / "xquad"
    documents = [one for one in documents_in(pack) if one.lang == "zh"]
    questions = [one for one in questions_in(pack) if one.lang == "zh"]
    squad = squad_of(documents, questions)
    for article in squad["data"]:
        for paragraph in article["paragraphs"]:
            paragraph["context"] = "🌾 " + paragraph["context"]
            for qa in paragraph["qas"]:
                for answer in qa["answers"]:
                    answer["answer_start"] += 3  # two units and the space
    (tmp_path / "x.json").write_text(json.dumps(squad), encoding="utf-8")
    found = import_set(tmp_path / "x.json")
    first = {question.id: question.evidence[0] for question in found.questions if question.evidence}
    right = {
        qa["id"]: qa["answers"][0]["answer_start"] - 1
        for article in squad["data"]
        for paragraph in article["paragraphs"]
        for qa in paragraph["qas"]
        if qa["answers"]
    }
    off = [name for name, start in right.items() if first[name].start != start]
    # An answer such as "11" in "111" also stands one further; all others are put right.
    assert len(off) <= 0.01 * len(right)
    (remark,) = (one for one in found.summary.remarks if "UTF-16" in one.reason)
    assert remark.n >= 0.98 * len(right)


def test_bankfaq_comes_back_from_its_sheet(shared_data):
    pack = shared_data / "bankfaq"
    found = import_set(pack / "BankFAQs.csv", format="faq", columns={"tags.section": "Class"})
    documents = documents_in(pack)
    assert [(one.title, one.text) for one in found.documents] == [(one.title, one.text) for one in documents]
    assert [one.tags["section"] for one in found.questions] == [one.metadata["section"] for one in documents]
    assert all(
        references(one) == [document.text] for one, document in zip(found.questions, documents, strict=True)
    )
    # 1,764 rows of 1,334 distinct questions, as SOURCES.md of the pack says: 430 repeat one to the letter.
    with (pack / "BankFAQs.csv").open(encoding="utf-8", newline="") as file:
        distinct = {row["Question"] for row in csv.DictReader(file)}
    assert len(distinct) == 1334
    assert len(found.summary.repeats) >= 1764 - 1334
    kept = import_set(pack / "BankFAQs.csv", format="faq", drop_repeats=True)
    assert len(kept.questions) == 1764 - kept.summary.n_dropped
    assert len({one.question for one in kept.questions}) == len(kept.questions)


def test_a_page_of_questions_comes_back(shared_data, tmp_path):
    rows = {
        question.question: references(question)[0]
        for question in questions_in(shared_data / "agxqa")
        if question.question.endswith("?") and not set("*`[_#") & set(question.question)
    }
    page = "# Irrigation\n\n" + "\n".join(f"## {asked}\n\n{answer}\n" for asked, answer in rows.items())
    (tmp_path / "faq.md").write_text(page, encoding="utf-8")
    found = import_set(tmp_path / "faq.md")
    assert len(rows) > 300
    assert {one.question: one.reference for one in found.questions} == {
        asked: answer.strip() for asked, answer in rows.items()
    }
    assert found.summary.remarks == []


def write_beir(folder, documents, questions, relevant):
    (folder / "qrels").mkdir(parents=True)
    rows = [{"_id": one.id, "title": one.title or "", "text": one.text, "metadata": {}} for one in documents]
    (folder / "corpus.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    rows = [{"_id": one.id, "text": one.question, "metadata": {}} for one in questions]
    (folder / "queries.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    lines = [f"{q}\t{d}\t{grade}\n" for q, grades in relevant.items() for d, grade in grades.items()]
    (folder / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\tscore\n" + "".join(lines))


def measures(folder, *arguments):
    ran = ragstone(
        "retrieve", *arguments, "--retriever", "bm25", "-o", folder / "r.jsonl", "--force", "--json"
    )
    assert ran.code == 0, ran.err
    return json.loads(ran.out)["retrieval"]


def test_retrieval_from_a_beir_folder_measures_the_same_as_from_the_original(
    shared_data, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    pack = shared_data / "agxqa"
    documents, questions = documents_in(pack), questions_in(pack)
    write_beir(
        tmp_path / "beir", documents, questions, {q.id: dict.fromkeys(q.document_ids, 1) for q in questions}
    )
    summary = import_to_folder([tmp_path / "beir"], tmp_path / "set", ImportOptions())
    assert summary.n_questions == len(questions)
    assert not summary.graded
    mine = measures(tmp_path, "--questions", "set/questions.jsonl", "--documents", "set/documents.jsonl")
    original = measures(
        tmp_path, "--questions", pack / "questions.jsonl", "--documents", pack / "documents.jsonl"
    )
    assert mine["measures"] == original["measures"]


def test_clapnq_comes_back_from_its_own_file_and_from_a_beir_folder(shared_data, tmp_path):
    pack = shared_data / "clapnq"
    rows = [json.loads(line) for line in (pack / "questions.jsonl").read_text(encoding="utf-8").splitlines()]
    own = import_set([pack / "questions.jsonl", pack / "documents.jsonl"])
    assert own.documents == documents_in(pack)
    assert [references(question) for question in own.questions] == [row["references"] for row in rows]
    # Its evidence is sentences, not spans: kept as they are.
    assert [
        question.metadata["evidence"] for question in own.questions if "evidence" in question.metadata
    ] == [row["evidence"] for row in rows if row["evidence"]]
    relevant = {row["id"]: {row["document_id"]: 1} for row in rows if row["answerable"]}
    write_beir(tmp_path / "beir", own.documents, own.questions, relevant)
    found = import_set(tmp_path / "beir")
    assert [(one.id, one.title, one.text) for one in found.documents] == [
        (one.id, one.title, one.text) for one in own.documents
    ]
    answerable = [question for question in own.questions if question.answerable]
    assert [(one.id, one.question, one.document_ids) for one in found.questions] == [
        (one.id, one.question, one.document_ids) for one in answerable
    ]


def test_cranfield_comes_back_from_trec_files_with_its_grades(shared_data, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    pack = shared_data / "cranfield"
    documents, questions = documents_in(pack), questions_in(pack)
    relevant = {one.id: one.metadata["relevant"] for one in questions}
    docs = (f"<DOC>\n<DOCNO>{d.id}</DOCNO>\n<TEXT>\n{d.text}\n</TEXT>\n</DOC>\n" for d in documents)
    topics = (f"<top>\n<num> Number: {one.id}\n<title> {one.question}\n</top>\n" for one in questions)
    lines = (f"{q} 0 {d} {grade}\n" for q, grades in relevant.items() for d, grade in grades.items())
    for name, parts in (("docs", docs), ("topics", topics), ("qrels", lines)):
        (tmp_path / name).write_text("".join(parts), encoding="utf-8")
    found = import_set([tmp_path / name for name in ("topics", "docs", "qrels")])
    assert found.qrels == {name: grades for name, grades in relevant.items() if grades}
    assert [(one.id, one.text) for one in found.documents] == [
        (one.id, one.text.strip()) for one in documents
    ]
    assert [(one.id, one.question) for one in found.questions] == [
        (one.id, " ".join(one.question.split())) for one in questions
    ]
    graded = {name: {d for d, grade in grades.items() if grade > 0} for name, grades in relevant.items()}
    assert {one.id: set(one.document_ids or ()) for one in found.questions} == graded
