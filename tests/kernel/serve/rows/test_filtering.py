"""A filter finds the same rows in the index of a run as in its joined table."""

from pathlib import Path

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.support.tiny_run import judgement, summary_of

from ragstone.kernel.records import Answer, Context, Judgement, Question, Ranking, RankingItem, Usage
from ragstone.kernel.runs.joined import FinishedRun, read_run
from ragstone.kernel.runs.notes import add_note
from ragstone.kernel.serve.rows.asking import RowFilter, RowIndex
from ragstone.kernel.serve.rows.files import files_of
from ragstone.kernel.serve.rows.indexing import connect, make_index
from ragstone.kernel.tables import write_rows

QUESTIONS = [
    Question(
        id="q1",
        question="When is maize sown?",
        reference=["In May", "May"],
        tags={"topic": "Maize", "system": "x"},
    ),
    Question(id="q2", question="Wie viel Wasser?", document_ids=["d2"], lang="de", answerable=True),
    Question(id="q3", question="Who won?", answerable=False, kind="true_false", tags={"topic": "none"}),
]
CONTEXTS = [Context(text="x", document_id="d1"), Context(text="y", document_id="d2")]
ANSWERS = [
    Answer(question_id="q1", system="a", answer="In May.", latency_s=0.5, usage=Usage(input=10, output=3)),
    Answer(question_id="q1", system="b", answer="In JUNE.", latency_s=2.0, cost_usd=0.001),
    Answer(
        question_id="q2",
        system="a",
        answer="ﬁve litres",
        contexts=CONTEXTS,
    ),
    Answer(question_id="q2", system="b", answer="", error="HTTP 503", contexts=[]),
    Answer(
        question_id="q4",
        system="a",
        question="Only here?",
        reference="yes",
        answer="No",
        tags={"topic": "maize"},
    ),
]
RANKINGS = [
    Ranking(question_id="q2", retriever="bm25", items=[RankingItem(document_id="d2", score=1.0)]),
]


NOTES = [
    {"question_id": "q1", "text": "Wrong month", "tags": ["wrong fact", "may"]},
    {"question_id": "q1", "system": "b", "text": "may be a typo"},
    {"question_id": "q2", "system": "a", "text": "", "tags": ["May"]},
]


def judged(question_id: str, system: str, judge: str, score: float | None, **fields: object) -> Judgement:
    return judgement(question_id, judge, score, system=system, **fields)


JUDGEMENTS = [
    judged("q1", "a", "correctness", 1),
    judged("q1", "b", "correctness", 0),
    judged("q2", "a", "correctness", 1),
    judged("q2", "b", "correctness", None, status="app_error"),
    judged("q3", "c", "correctness", None, status="not_applicable"),
    judged("q4", "a", "correctness", 0.5),
    judged("q1", "a", "tone@scale=0-10", 7, scale=(0, 10)),
    judged("q1", "b", "tone@scale=0-10", 8, scale=(0, 10)),
    judged("q2", "a", "tone@scale=0-10", None, status="timeout", scale=(0, 10)),
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    run = tmp_path_factory.mktemp("runs") / "mine"
    run.mkdir()
    for name, rows in {
        "questions": QUESTIONS,
        "answers": ANSWERS,
        "rankings": RANKINGS,
        "judgements": JUDGEMENTS,
    }.items():
        write_rows(run / f"{name}.jsonl", rows, type(rows[0]))
    (run / "summary.json").write_bytes(msgspec.json.encode(summary_of(JUDGEMENTS)))
    for note in NOTES:
        add_note(run, author="ann", **note)
    list(make_index(files_of(run), run.parent / "index.duckdb"))
    return run


@pytest.fixture(scope="module")
def run(folder: Path) -> FinishedRun:
    return read_run(folder)


@pytest.fixture(scope="module")
def con(folder: Path):
    opened = connect(folder.parent / "index.duckdb")
    yield opened
    opened.close()


def found(con, run: FinishedRun, text: str) -> list[str]:
    index = RowIndex(con, run.notes)
    lines = index.lines(RowFilter(where=text), index.columns([]))
    assert lines.n == len(lines.lines)
    return [line.id for line in lines.lines]


def left(run: FinishedRun, text: str) -> list[str]:
    return list(dict.fromkeys(row["question_id"] for row in run.where(text)))


@pytest.mark.long
@pytest.mark.parametrize(
    ("text", "pairs"),
    [
        ("correctness < 0.5", ["q1 b"]),
        ("correctness < 0.5 and topic = maize and flips", ["q1 b"]),
        ("flips", ["q1 a", "q1 b"]),
        ("correctness_status = app_error", ["q2 b"]),
        ("correctness = none", ["q2 b", "q3 c"]),
        ("`tone@scale=0-10` > 7", ["q1 b"]),
        ("`tone@scale=0-10_status` ~ time", ["q2 a"]),
        ("topic = maize", ["q1 a", "q1 b", "q4 a"]),
        ("topic = 'none'", ["q3 c"]),
        ("topic = none", ["q2 a", "q2 b"]),
        ("tags.system = x and system = a", ["q1 a"]),
        ("found_rank = 2", ["q2 a"]),
        ("found_rank = 0", ["q2 b"]),
        ("answer ~ five", ["q2 a"]),
        ("reference = may", ["q1 a", "q1 b"]),
        ("reference = yes", ["q4 a"]),
        ("question ~ here", ["q4 a"]),
        ("error ~ 503", ["q2 b"]),
        ("latency_s >= 0.5 and input_tokens != none", ["q1 a"]),
        ("cost_usd > 0", ["q1 b"]),
        ("notes ~ typo", ["q1 b"]),
        ("note_tags = 'Wrong Fact'", ["q1 a", "q1 b"]),
        ("note_tags = may", ["q1 a", "q1 b", "q2 a"]),
        ("notes = none", ["q2 a", "q2 b", "q3 c", "q4 a"]),
        ("answerable", ["q2 a", "q2 b"]),
        ("answerable = none", ["q1 a", "q1 b", "q4 a"]),
        ("not answerable = true", ["q1 a", "q1 b", "q3 c", "q4 a"]),
        ("kind = true_false", ["q3 c"]),
        ("lang = de", ["q2 a", "q2 b"]),
        ("system in (b, c)", ["q1 b", "q2 b", "q3 c"]),
        ("anywhere ~ may", ["q1 a", "q1 b"]),
        ("anywhere ~ june", ["q1 b"]),
        ("anywhere ~ 'five LITRES' and anywhere ~ wasser", ["q2 a"]),
        ("not anywhere ~ maize", ["q2 a", "q2 b", "q3 c"]),
    ],
)
def test_a_filter_keeps_the_pairs_that_meet_it(run, con, text, pairs):
    rows = [f"{row['question_id']} {row['system']}" for row in run.where(text)]
    assert rows == pairs
    assert found(con, run, text) == list(dict.fromkeys(pair.split()[0] for pair in pairs))


def test_the_head_tells_what_a_filter_may_ask(con, run):
    filters = RowIndex(con, run.notes).head([]).filters
    for name, kind in filters.items():
        written = f"`{name}`"
        text = {"yes_no": written, "search": f"{written} ~ may"}.get(kind, f"{written} != none")
        assert found(con, run, text) == left(run, text)
    assert {"flips", "topic", "tags.system", "tone@scale=0-10"} <= set(filters)


@pytest.mark.long
@pytest.mark.parametrize(
    ("text", "pairs"),
    [
        ("anywhere ~ bold", [("q", "a")]),
        ("anywhere ~ shy", [("q", "b")]),
        ("anywhere ~ mood", [("q", "a"), ("q", "b")]),
        ("anywhere ~ place", [("q", "c")]),
        ("anywhere ~ oats", [("q", "c")]),
        ("anywhere ~ rye and anywhere ~ perhaps", [("q", "b")]),
        ("anywhere ~ cereal", [("q", "a"), ("q", "b")]),
    ],
)
def test_a_search_looks_through_what_each_system_says_of_a_question(tmp_path, text, pairs):
    shared = {"question_id": "q", "question": "Which cereal?", "answer": "rye"}
    answers = [
        Answer(**shared, system="a", tags={"mood": "bold"}),
        Answer(**shared, system="b", tags={"mood": "shy"}, reference="perhaps"),
        Answer(**(shared | {"question": "Which oats?"}), system="c", tags={"place": "here"}),
    ]
    judgements = [judged("q", system, "correctness", 1) for system in "abc"]
    write_rows(tmp_path / "answers.jsonl", answers, Answer)
    write_rows(tmp_path / "judgements.jsonl", judgements, Judgement)
    (tmp_path / "summary.json").write_bytes(msgspec.json.encode(summary_of(judgements)))
    table = read_run(tmp_path).where(text)
    assert [(row["question_id"], row["system"]) for row in table] == pairs
    list(make_index(files_of(tmp_path), tmp_path / "index.duckdb"))
    opened = connect(tmp_path / "index.duckdb")
    try:
        assert RowIndex(opened).answers_left(text) == pairs
    finally:
        opened.close()


def conditions(columns: dict[str, str]) -> st.SearchStrategy[str]:
    texts = st.sampled_from(
        ["maize", "a", "b", "may", "e", "scored", "timeout", "none", "'none'", "Q1", "open", "5"]
    )
    numbers = st.sampled_from(["0", "0.5", "1", "2", "7", "8", "-1"])

    def one(name: str) -> st.SearchStrategy[str]:
        kind, written = columns[name], f"`{name}`"
        if kind == "yes_no":
            return st.sampled_from([written, f"{written} = false", f"{written} != true", f"{written} = none"])
        if kind == "search":
            return st.builds(lambda value: f"{written} ~ {value}", texts)
        if kind == "text":
            return st.one_of(
                st.builds("{} {} {}".format, st.just(written), st.sampled_from(["=", "!="]), texts),
                st.builds(lambda value: f"{written} ~ {value}", texts),
                st.builds(lambda a, b: f"{written} in ({a}, {b})", texts, texts),
            )
        return st.one_of(
            st.builds(
                "{} {} {}".format,
                st.just(written),
                st.sampled_from(["=", "!=", "<", "<=", ">", ">="]),
                numbers,
            ),
            st.builds(lambda a: f"{written} in ({a}, none)", numbers),
            st.sampled_from([f"{written} = none", f"{written} != none"]),
        )

    return st.recursive(
        st.sampled_from(list(columns)).flatmap(one),
        lambda inner: st.one_of(
            st.builds(lambda a: f"not ({a})", inner),
            st.builds(lambda a, b: f"({a}) and ({b})", inner, inner),
            st.builds(lambda a, b: f"({a}) or ({b})", inner, inner),
        ),
        max_leaves=5,
    )


@pytest.mark.long
@given(data=st.data())
@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_filter_finds_in_the_index_what_it_leaves_of_the_table(data, run, con):
    text = data.draw(conditions(RowIndex(con, run.notes).head([]).filters))
    assert found(con, run, text) == left(run, text)
