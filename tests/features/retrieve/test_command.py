"""`ragstone retrieve` as a user types it."""

import json

import pytest
from tests.support.command import ragstone
from tests.support.fake_retriever import serving
from tests.support.golden import sentence_in
from tests.support.scripts import Said, nonce_in, prompt_of, schema_in

from ragstone.kernel.records import Answer, Chunk, Document, Evidence, Question, Ranking, RankingItem
from ragstone.kernel.tables import read_rows, write_rows

TEXTS = {"maize": "Maize needs much water.", "wheat": "Wheat needs sun.", "cats": "Cats need sleep."}
TAGS = {"maize": {"crop": "maize"}, "wheat": {"crop": "wheat"}, "cats": {}}
QUESTIONS = [
    Question(id="q0", question="What are maize needs?", document_ids=["maize"], tags={"crop": "maize"}),
    Question(id="q1", question="What are wheat needs?", document_ids=["wheat"], tags={"crop": "wheat"}),
]


@pytest.fixture
def corpus(folder):
    """A folder with three documents, their chunks with tags, two questions, and qrels that disagree."""
    write_rows(folder / "d.jsonl", [Document(id=n, text=t) for n, t in TEXTS.items()], Document)
    chunks = [
        Chunk(id=f"{n}#0", document_id=n, text=t, start=0, end=len(t), metadata={"tags": TAGS[n]})
        for n, t in TEXTS.items()
    ]
    write_rows(folder / "c.jsonl", chunks, Chunk)
    write_rows(folder / "q.jsonl", QUESTIONS, Question)
    (folder / "qrels.txt").write_text("q0 0 cats 1\nq1 0 wheat 2\nq1 0 maize 0\n")
    return folder


def ranked(*arguments, documents="d.jsonl"):
    given = ("--documents", documents) if documents else ()
    return ragstone("retrieve", "--questions", "q.jsonl", *given, "--force", *arguments)


def found(path="rankings.jsonl"):
    return [[item.document_id for item in ranking.items] for ranking in read_rows(path, Ranking)]


def test_what_the_settings_say_holds_unless_an_option_says_otherwise(corpus, says):
    (corpus / "ragstone.toml").write_text(
        '[documents]\npaths = ["d.jsonl"]\n[questions]\npath = "q.jsonl"\n'
        '[retrieve]\nretriever = "mine"\nk = 12\n[chunk]\nmethod = "whole"\n'
        '[retrievers]\nmine = { kind = "hybrid", of = ["bm25"] }\n'
    )
    ran = ragstone("retrieve", "--json")
    assert ran.code == 0
    summary = json.loads(ran.out)
    assert summary["retrieval"]["retriever"] == "mine"
    says(sentence_in(ran.err, "use a smaller"))
    assert summary["retrieval"]["index_s"] > 0
    assert summary["retrieval"]["search_s"] > 0
    ran = ragstone("retrieve", "--retriever", "bm25", "-k", 1, "--limit", 1, "--force")
    assert ran.code == 0
    says(sentence_in(ran.out, "measured on 1"))
    says(sentence_in(ran.out, "Cannot tell whether"))
    assert found() == [["maize"]]


def test_another_file_of_settings_is_named(corpus):
    (corpus / "other.toml").write_text('[retrievers]\nmine = { kind = "hybrid", of = ["bm25"] }\n')
    assert ranked("--retriever", "mine", "--config", "other.toml").code == 0
    assert "unknown retriever 'mine'" in ranked("--retriever", "mine").err


def test_chunks_made_before_stand_in_for_documents(corpus):
    ran = ranked("--chunks", "c.jsonl", documents=None)
    assert ran.code == 0
    assert found()[0][0] == "maize"
    assert "the corpus lacks" not in ran.err


def test_where_and_match_choose_chunks_by_their_tags(corpus, says):
    assert ranked("--chunks", "c.jsonl", "--where", "crop=wheat").code == 0
    assert found() == [["wheat"], ["wheat"]]
    assert ranked("--chunks", "c.jsonl", "--match", "crop").code == 0
    assert found() == [["maize"], ["wheat"]]
    write_rows(
        "q.jsonl",
        [*QUESTIONS, Question(id="q2", question="Rice?", tags={"crop": "rice"})],
        Question,
        force=True,
    )
    ran = ranked("--chunks", "c.jsonl", "--match", "crop")
    says(ran.err)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("--where", "crop"), "--where 'crop': write TAG=VALUE, e.g. crop=maize"),
        (("--where", "crop="), "write TAG=VALUE"),
        (("--where", "region=iowa"), "no chunk has the tag 'region', so none can be found by it. Existing"),
        (("--where", "crop=rice"), "no chunk has crop = 'rice'"),
        (("--match", "region"), "no chunk has the tag 'region'"),
        (("--retriever", "bm52"), "unknown retriever 'bm52'. Did you mean 'bm25'"),
        (("--qrels", "none.txt"), "none.txt: cannot be read"),
        (("--rankings", "none.jsonl"), "none.jsonl: no such file"),
        (("--chunks", "none.jsonl"), "none.jsonl: no such file"),
    ],
)  # fmt: skip
def test_wrong_options_are_met_with_the_fix(corpus, arguments, says):
    ran = ranked("--chunks", "c.jsonl", *arguments)
    assert (ran.code, says in ran.err) == (2, True), ran.err


def test_without_questions_or_documents_it_says_what_to_give(corpus, says):
    says(ragstone("retrieve").err)
    ran = ranked(documents=None)
    assert ran.code == 2
    says(ran.err)


def test_qrels_go_before_what_the_questions_name(corpus):
    ran = ranked("--json", "--qrels", "qrels.txt", "-k", 1)
    measures = json.loads(ran.out)["retrieval"]["measures"]
    assert measures["recall@1"]["value"] == 0.5  # q0 wants cats now, q1 wheat
    assert json.loads(ranked("--json", "-k", 1).out)["retrieval"]["measures"]["recall@1"]["value"] == 1.0


@pytest.mark.parametrize("qrels", ["", "zz 0 wheat 1\n"])
def test_qrels_that_name_none_of_the_questions_are_an_error(corpus, qrels, says):
    (corpus / "qrels.txt").write_text(qrels)
    for more in ((), ("--rankings", "theirs.txt")):
        (corpus / "theirs.txt").write_text("q0 Q0 maize 1 1.0 theirs\n")
        ran = ranked("--qrels", "qrels.txt", *more)
        assert ran.code == 2
        says(ran.err)


def test_what_cannot_be_measured_says_why(corpus, says):
    rows = [Ranking(question_id=f"q{n}", retriever="theirs", items=[]) for n in range(2)]
    write_rows(corpus / "theirs.jsonl", rows, Ranking)
    says(sentence_in(ranked("--rankings", "theirs.jsonl").out, "rankings are empty"))
    write_rows("q.jsonl", [Question(id="q0", question="Rye?")], Question, force=True)
    says(sentence_in(ranked().out, "Nothing to measure"))


def test_a_file_without_rankings_is_an_error(corpus, says):
    (corpus / "theirs.txt").write_text("")
    ran = ranked("--rankings", "theirs.txt")
    assert ran.code == 2
    says(ran.err)


@pytest.mark.parametrize(
    ("place", "says"),
    [
        ("rankings.jsonl", "names the rankings file itself"),
        (".", "is a folder"),
        ("d.jsonl/run.txt", "d.jsonl/run.txt: cannot be written"),
    ],
)
def test_a_trec_run_that_cannot_be_written_is_said_before_anything_is_searched(corpus, place, says):
    ran = ranked("--trec", place)
    assert (ran.code, says in ran.err) == (2, True), ran.err
    assert not (corpus / "rankings.jsonl").exists()


def test_a_trec_run_goes_into_a_new_folder(corpus):
    assert ranked("--trec", "new/run.txt").code == 0
    assert (corpus / "new" / "run.txt").is_file()


def test_a_trec_run_is_written_too_and_measured_again_without_documents(corpus, says):
    ran = ranked("--trec", "run.txt", "--json")
    says((corpus / "run.txt").read_text())
    again = ragstone("retrieve", "--questions", "q.jsonl", "--rankings", "run.txt", "--json")
    one, other = (json.loads(each.out)["retrieval"] for each in (ran, again))
    assert one["measures"] == other["measures"]
    assert "index_s" not in other or other["index_s"] is None
    assert "There are" not in again.err


def test_rankings_made_elsewhere_are_measured_to_the_depth_that_is_asked_for(corpus, says):
    items = [
        RankingItem(document_id=name, score=s) for name, s in (("cats", 2.0), ("maize", 1.0), ("gone", 0.5))
    ]
    made = [Ranking(question_id=f"q{n}", retriever="theirs", items=items) for n in range(2)]
    write_rows(corpus / "theirs.jsonl", made, Ranking)
    ran = ragstone("retrieve", "--questions", "q.jsonl", "--rankings", "theirs.jsonl", "--json", "--limit", 1)
    summary = json.loads(ran.out)
    assert (summary["n_rankings"], summary["retrieval"]["measures"]["mrr"]["value"]) == (1, 0.5)
    ran = ragstone(
        "retrieve", "--questions", "q.jsonl", "--rankings", "theirs.jsonl", "-k", 1, "--trec", "t.txt"
    )
    says(ran.out)
    says((corpus / "t.txt").read_text())
    assert not (corpus / "rankings.jsonl").exists()


def test_relevant_documents_that_the_corpus_lacks_are_said(corpus, says):
    rye = Question(id="q", question="Rye?", document_ids=["rye"])
    write_rows("q.jsonl", [rye, QUESTIONS[0]], Question, force=True)
    ran = ranked("--json")
    assert json.loads(ran.out)["missing_documents"] == {"q": ["rye"]}
    says(ran.err)
    ran = ranked("--json", "--chunks", "c.jsonl", documents=None)
    assert json.loads(ran.out)["missing_documents"] == {"q": ["rye"]}


@pytest.mark.parametrize("first", ["maize", "rye"])
def test_a_document_that_the_corpus_lacks_but_a_ranking_holds_is_not_missing(corpus, first):
    rye = Question(id="q", question="Rye?", document_ids=["rye"])
    write_rows("q.jsonl", [rye], Question, force=True)
    items = [RankingItem(document_id=first, score=2.0)]
    write_rows("theirs.jsonl", [Ranking(question_id="q", retriever="theirs", items=items)], Ranking)
    ran = ragstone(
        "retrieve", "--questions", "q.jsonl", "--rankings", "theirs.jsonl", "--documents", "d.jsonl"
    )
    assert ("documents that the corpus lacks" in ran.err) is (first != "rye")


def test_why_nothing_was_measured(corpus, says):
    asked = [("q0", False, ["maize"]), ("q1", None, None), ("q2", None, ["maize"])]
    rows = [Question(id=name, question="?", answerable=can, document_ids=of) for name, can, of in asked]
    items = [RankingItem(document_id="maize", score=2.0)]
    for chosen in ([0], [1], [0, 1], [0, 1, 2]):
        questions = [rows[at] for at in chosen]
        write_rows("q.jsonl", questions, Question, force=True)
        ranked_rows = [
            Ranking(question_id=row.id, retriever="theirs", items=items)
            for row in questions
            if row.id != "q2"
        ]
        write_rows("theirs.jsonl", ranked_rows, Ranking, force=True)
        says(ragstone("retrieve", "--questions", "q.jsonl", "--rankings", "theirs.jsonl").out)


def test_ids_of_another_corpus_are_an_error_and_no_measure_of_0(corpus, says):
    write_rows("q.jsonl", [Question(id="q", question="Rye?", document_ids=["rye"])], Question, force=True)
    for given in ([], ["--chunks", "c.jsonl"]):
        ran = ranked(*given, documents=None if given else "d.jsonl")
        assert ran.code == 2
        says(ran.err)
        assert not (corpus / "rankings.jsonl").exists()


def test_files_that_stand_there_are_not_replaced(corpus):
    assert ranked("--trec", "run.txt").code == 0
    ran = ragstone(
        "retrieve",
        "--questions",
        "q.jsonl",
        "--documents",
        "d.jsonl",
        "-o",
        "new.jsonl",
        "--trec",
        "run.txt",
        "-k",
        1,
    )
    assert (ran.code, "run.txt" in ran.err) == (2, True)


@pytest.fixture
def reranking(corpus, fake_openai):
    """Settings with a reranker that asks the fake endpoint, which turns every list around."""

    def turned(body):
        n = prompt_of(body).count("</passage ")
        return json.dumps({"nonce": nonce_in(body), "ranking": list(range(n, 0, -1))})

    fake_openai.script = turned
    (corpus / "ragstone.toml").write_text(
        f'{fake_openai.toml()}\n[retrievers]\nturned = {{ kind = "rerank", by = "openai/fake", depth = 2 }}\n'
    )
    return fake_openai


def test_a_reranker_asks_its_model_once_and_its_cost_is_told(corpus, reranking, says):
    ran = ranked("--retriever", "turned")
    assert ran.code == 0
    says(ran.err)
    assert "Calls: 2 made" in ran.err
    plain = (ranked("--retriever", "bm25", "-o", "plain.jsonl"), found("plain.jsonl"))[1]
    assert [names[:2] for names in found()] == [names[1::-1] for names in plain]
    n_requests = reranking.n_requests
    assert ranked("--retriever", "turned", "--offline").code == 0
    assert reranking.n_requests == n_requests == 2


def test_a_forecast_alone_asks_nobody(corpus, reranking):
    ran = ranked("--retriever", "turned", "--forecast")
    assert (ran.code, "about 2 calls" in ran.out, reranking.n_requests) == (0, True, 0)


def test_questions_that_are_not_reranked_are_counted_and_a_budget_ends_with_its_code(corpus, reranking, says):
    ran = ranked("--retriever", "turned", "--budget", "1calls")
    assert ran.code == 4
    says(ran.err)
    reranking.script = lambda _body: Said(text="no list")
    ran = ranked("--retriever", "turned", "--limit", 2)
    assert (ran.code, "1 unparsable" in ran.err) == (0, True)


def test_what_a_retriever_elsewhere_brings_is_what_the_model_reads(corpus, fake_openai):
    with serving() as fake:
        fake.script = lambda asked: {
            "results": [
                {"document_id": "maize", "text": "needs much"},
                {"document_id": "x", "text": "Only theirs."},
            ]
        }
        (corpus / "ragstone.toml").write_text(
            f'{fake_openai.toml()}\n[retrievers]\nmine = {{ kind = "http", url = "{fake.url}" }}\n'
        )
        ran = ragstone(
            "answer", "--questions", "q.jsonl", "--documents", "d.jsonl", "--retriever", "mine",
            "--model", "openai/fake", "--limit", 1,
        )  # fmt: skip
    assert ran.code == 0, ran.err
    (answered,) = read_rows("answers.jsonl", Answer)
    assert [(context.document_id, context.text) for context in answered.contexts] == [
        ("maize", "needs much"),
        ("x", "Only theirs."),
    ]
    assert "Only theirs." in fake_openai.prompts[-1]


def test_a_retriever_behind_http_is_measured_and_one_that_is_down_is_named(corpus, says):
    with serving() as fake:
        fake.script = lambda asked: {"results": [{"document_id": asked.body["query"].split()[2]}]}
        (corpus / "ragstone.toml").write_text(
            f'[retrievers]\nmine = {{ kind = "http", url = "{fake.url}" }}\n'
        )
        ran = ranked("--retriever", "mine", "--json")
        assert ran.code == 0, ran.err
        assert json.loads(ran.out)["retrieval"]["measures"]["recall@1"]["value"] == 1.0
        assert ranked("--retriever", "mine", documents=None).code == 0
        says(ranked("--retriever", "mine", "--offline").err)
    ran = ranked("--retriever", "mine")
    assert (ran.code, "cannot be reached" in ran.err) == (2, True)


def test_a_reranker_goes_by_batch_where_the_answers_do(corpus, reranking):
    script = reranking.script
    reranking.script = lambda body: script(body) if schema_in(body) else "An answer."
    settings = f"{reranking.toml()}batch_poll_s = 0.001\n"
    (corpus / "ragstone.toml").write_text(
        f'{settings}[retrievers]\nturned = {{ kind = "rerank", by = "openai/fake", depth = 2 }}\n'
    )
    given = (
        "--questions",
        "q.jsonl",
        "--documents",
        "d.jsonl",
        "--retriever",
        "turned",
        "--model",
        "openai/fake",
    )
    ran = ragstone("answer", *given, "--batch")
    assert ran.code == 0, ran.err
    assert [len(batch.calls) for batch in reranking.batches.made] == [1, 2]  # one of two was sent ahead
    answers = list(read_rows("answers.jsonl", Answer))
    assert [answer.contexts[0].document_id for answer in answers] == [names[1] for names in plain_order()]


def plain_order():
    assert ranked("--retriever", "bm25", "-o", "plain.jsonl").code == 0
    return found("plain.jsonl")


def test_a_run_says_what_became_of_its_retriever(corpus, reranking, says):
    with (corpus / "ragstone.toml").open("a") as file:
        file.write(
            '[documents]\npaths = ["d.jsonl"]\n[questions]\npath = "q.jsonl"\n'
            '[retrieve]\nretriever = "turned"\n'
            '[answer]\nmodel = "openai/fake"\n[judge]\njudges = ["containment"]\n'
        )
    reranking.script = lambda body: Said(text="no list")
    ran = ragstone("run", "--json")
    summary = json.loads(ran.out)
    says(summary["notes"])
    assert summary["models"]["reranker turned"].startswith("openai/fake@")


def test_a_changed_document_is_told_and_lowers_no_measure_by_characters(corpus, says):
    water, sun = (TEXTS[name].index(word) for name, word in (("maize", "much water"), ("wheat", "sun")))
    rows = [
        Question(
            id=f"q{n}",
            question=f"What are {name} needs?",
            reference=TEXTS[name][at : at + length],
            evidence=[Evidence(document_id=name, start=at, end=at + length)],
        )
        for n, (name, at, length) in enumerate((("maize", water, 10), ("wheat", sun, 3)))
    ]
    write_rows(corpus / "q.jsonl", rows, Question, force=True)
    before = ranked("--json")
    assert "evidence" not in before.err
    moved = [Document(id=n, text="It is so. " * (n == "maize") + t) for n, t in TEXTS.items()]
    write_rows(corpus / "moved.jsonl", moved, Document)
    after = ranked("--json", documents="moved.jsonl")
    [was, now] = [json.loads(ran.out)["retrieval"]["measures"]["span_recall@1"] for ran in (before, after)]
    assert was["value"] == now["value"] == 1.0
    says(after.err)
    lost = [Document(id=n, text=t.replace("much water", "much rain")) for n, t in TEXTS.items()]
    write_rows(corpus / "lost.jsonl", lost, Document)
    ran = ranked("--json", documents="lost.jsonl")
    assert json.loads(ran.out)["retrieval"]["n_unplaced"] == 1
    says(ran.err)
