"""Rank measures of two runs: by hand, and as the run itself states them."""

import msgspec
import pytest
from tests.support.judged_runs import judged, questions, rankings

import ragstone
from ragstone.features.compare._retrieval import compare_retrieval
from ragstone.features.compare.matching import JudgedRun
from ragstone.features.compare.paired import compare_judged
from ragstone.features.compare.words import _rank_verdict
from ragstone.kernel.config import Settings
from ragstone.kernel.records import Document, Question, Ranking, RankingItem
from ragstone.kernel.tables import write_rows

IDS = [f"q{at}" for at in range(8)]


def run(name: str, places: list[int | None], k: int) -> JudgedRun:
    return JudgedRun(
        name=name,
        judgements=judged([1.0] * len(places)),
        questions=questions(len(places)),
        rankings=rankings(places, k),
    )


def compared(a: JudgedRun, b: JudgedRun, ids: list[str] = IDS) -> dict[str, tuple[float, float, int]]:
    found, notes = compare_retrieval(a, b, ids, seed=0)
    assert notes == []
    return {row.measure: (row.a.value, row.b.value, row.n) for row in found}


def test_rank_measures_by_hand():
    # A finds 4 of 8, all second; B finds 6 of 8, all first. MRR of A: 4/2/8 = .25; nDCG: 4/log2(3)/8 = .315.
    found = compared(run("a", [2] * 4 + [None] * 4, 3), run("b", [1] * 6 + [None] * 2, 3))
    assert list(found) == ["hit@1", "recall@3", "ndcg@3", "mrr"]
    assert found["hit@1"] == (0.0, 0.75, 8)
    assert found["recall@3"] == (0.5, 0.75, 8)
    assert found["ndcg@3"] == (pytest.approx(0.3155, abs=1e-4), 0.75, 8)
    assert found["mrr"] == (0.25, 0.75, 8)


def test_runs_of_other_depth_are_compared_on_as_many_places_and_by_all_that_was_retrieved():
    a, b = run("a", [1, 1, *[None] * 6], 2), run("b", [1, 1, 5, 5, *[None] * 4], 5)
    found = compared(a, b)
    assert found["recall@2"] == (0.25, 0.25, 8)
    assert found["recall@2 → recall@5"] == (0.25, 0.5, 8)
    assert found["mrr"] == (0.25, 0.25, 8)  # the fifth place of B counts for no measure of two


def test_holm_counts_the_rank_measures_apart_from_the_judges():
    # 8 of 8 gain by every measure: 2 / 2^8 = 1 / 128, of 4 measures 4 / 128.
    a, b = run("a", [None] * 8, 3), run("b", [1] * 8, 3)
    found = compare_judged(a, b)
    assert found.metrics[0].family == 1
    assert {row.family for row in found.retrieval} == {4}
    assert [row.p for row in found.retrieval] == [pytest.approx(1 / 128)] * 4
    assert [row.p_holm for row in found.retrieval] == [pytest.approx(4 / 128)] * 4
    assert {row.verdict for row in found.retrieval} == {"better"}
    assert found.gate.outcome == "passed"
    assert (
        compare_judged(b, a).gate.outcome == "passed"
    )  # worse retrieval fails no gate: no score has changed


def test_only_questions_that_are_compared_are_measured():
    found = compared(run("a", [1, None, None], 2), run("b", [1, 1, 1], 2), ["q0", "q1"])
    assert found["hit@1"] == (0.5, 1.0, 2)


def test_a_question_without_ranking_in_one_run_counts_in_neither():
    a, b = run("a", [1, None], 2), run("b", [1, 1], 2)
    found = compared(a, msgspec.structs.replace(b, rankings=b.rankings[:1]), ["q0", "q1"])
    assert found["hit@1"] == (1.0, 1.0, 1)


def several(side: JudgedRun) -> JudgedRun:
    others = [msgspec.structs.replace(row, retriever="dense", question_id="q1") for row in side.rankings[:1]]
    return msgspec.structs.replace(side, rankings=[side.rankings[0], *others])


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda side: msgspec.structs.replace(side, rankings=[]), "b holds no rankings"),
        (lambda side: msgspec.structs.replace(side, questions=[]), "but no such question"),
        (several, "rankings of several retrievers (bm25, dense)"),
        (
            lambda side: msgspec.structs.replace(side, rankings=rankings([None] * 8, 0)),
            "all rankings of a run are empty",
        ),
        (
            lambda side: msgspec.structs.replace(
                side, questions=[Question(id=name, question="?") for name in IDS]
            ),
            "no question of both runs names its documents",
        ),
    ],
)
def test_what_keeps_retrieval_from_being_compared_is_told(change, told, says):
    found, notes = compare_retrieval(run("a", [1] * 8, 2), change(run("b", [1] * 8, 2)), IDS, seed=0)
    assert found == []
    assert len(notes) == 1
    says(notes[0])
    assert told in notes[0]


def test_runs_without_any_rankings_say_nothing_of_them():
    silent = msgspec.structs.replace(run("a", [1], 2), rankings=[])
    assert compare_retrieval(silent, silent, ["q0"], seed=0) == ([], [])


def test_questions_that_name_other_documents_are_told(says):
    b = run("b", [1, 1], 2)
    moved = [msgspec.structs.replace(b.questions[0], document_ids=["other1"]), b.questions[1]]
    _, notes = compare_retrieval(
        run("a", [1, 1], 2), msgspec.structs.replace(b, questions=moved), ["q0", "q1"], seed=0
    )
    says(notes)


def test_evidence_is_measured_by_characters():
    spans = [{"document_id": "d0", "start": 0, "end": 10}]
    asked = msgspec.convert([{"id": "q0", "question": "?", "evidence": spans}], list[Question])
    a, b = run("a", [1], 1), run("b", [1], 1)
    sides = []
    for side, end in ((a, 5), (b, 20)):
        item = RankingItem(document_id="d0", score=1.0, start=0, end=end)
        ranking = msgspec.structs.replace(side.rankings[0], items=[item])
        sides.append(msgspec.structs.replace(side, questions=asked, rankings=[ranking]))
    assert compared(sides[0], sides[1], ["q0"])["span_recall@1"] == (0.5, 1.0, 1)


def test_figures_are_those_that_each_run_states(tmp_path):
    texts = [
        "Wheat rust is a fungus.",
        "Barley is malted for beer.",
        "Rust on iron is an oxide. Wheat.",
        "Oats.",
    ]
    documents = [Document(id=f"d{at}", text=text) for at, text in enumerate(texts)]
    # A copy of d2 that ingest dropped: questions that name it are answered by d2.
    documents[2] = msgspec.structs.replace(documents[2], metadata={"duplicates": ["gone"]})
    write_rows(tmp_path / "documents.jsonl", documents, Document)
    asked = [("What is rust of wheat?", "gone"), ("What is malted?", "d1"), ("Rust of iron wheat?", "d2")]
    rows = [
        Question(id=f"q{at}", question=text, reference="fungus", document_ids=[name])
        for at, (text, name) in enumerate(asked)
    ]
    write_rows(tmp_path / "questions.jsonl", rows, Question)
    for name, k in (("one", 1), ("three", 3)):
        declared = {
            "root": str(tmp_path),
            "run": {"name": name},
            "documents": {"paths": ["documents.jsonl"]},
            "questions": {"path": "questions.jsonl"},
            "retrieve": {"k": k},
            "answer": {"system": "extractive"},
            "judge": {"judges": ["containment"]},
        }
        summary = ragstone.run(msgspec.convert(declared, Settings))
        assert summary.retrieval[0].n_questions == 3
    stated = {
        name: msgspec.json.decode((tmp_path / "runs" / name / "summary.json").read_bytes())["retrieval"][0]
        for name in ("one", "three")
    }
    found = ragstone.compare(tmp_path / "runs" / "one", tmp_path / "runs" / "three")
    row = next(row for row in found.retrieval if row.measure == "recall@1 → recall@3")
    assert row.a == msgspec.convert(stated["one"]["measures"]["recall@1"], type(row.a))
    assert row.b == msgspec.convert(stated["three"]["measures"]["recall@3"], type(row.b))
    assert row.b.value == 1.0
    assert [(one.name, one.a, one.b, one.decides) for one in found.settings or []] == [
        ("[retrieve] k", "1", "3", True)
    ]


@pytest.mark.parametrize(
    ("found_by_b", "words"), [("q0", "same"), ("q1", "cannot tell")], ids=["same", "cancelling"]
)
def test_rankings_are_the_same_only_where_no_question_differs(found_by_b: str, words: str):
    # Both questions are of one document: A and B find it for one of the two, and nothing has an interval.
    def side(name: str, found_for: str) -> JudgedRun:
        ranked = [
            Ranking(
                question_id=asked.id,
                retriever="bm25",
                items=[RankingItem(document_id="d0" if asked.id == found_for else "x", score=1.0)],
            )
            for asked in questions(2, a_document=2)
        ]
        return JudgedRun(
            name=name, judgements=judged([1.0] * 2), questions=questions(2, a_document=2), rankings=ranked
        )

    found, _ = compare_retrieval(side("a", "q0"), side("b", found_by_b), ["q0", "q1"], seed=0)
    assert {(row.difference.value, row.difference.low) for row in found} == {(0.0, None)}
    assert {_rank_verdict(row).words for row in found} == {words}
