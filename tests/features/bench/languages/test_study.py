import json
import re

import msgspec
import pytest
from tests.support.scripts import always, embed_words, fail, prompt_of, vectors_said
from tests.support.statements import statement_documents, statement_questions

import ragstone
from ragstone.features.bench.languages._values import ALL, OWN
from ragstone.features.bench.languages.study import forecast_study
from ragstone.features.bench.languages.words import read_study
from ragstone.features.retrieve.ranking import measure_rankings
from ragstone.kernel.config import (
    AnswerSection,
    BenchSection,
    DocumentsSection,
    HttpSettings,
    JudgeSection,
    LanguagesBench,
    QuestionsSection,
    RetrieveSection,
    load_settings,
)
from ragstone.kernel.errors import ConfigError, DataError
from ragstone.kernel.records import Answer, Document, Question, Ranking, RankingItem
from ragstone.kernel.tables import read_rows, write_rows

SOWN = {
    "en": ("{} is sown in {} by the farmers.", "When do farmers sow {}?"),
    "es": ("Los campesinos siembran {} en {}.", "¿Cuándo siembran {} los campesinos?"),
}
CROPS = {
    "en": ["wheat", "maize", "barley", "rye", "oats", "rice"],
    "es": ["trigo", "maíz", "cebada", "centeno", "avena", "arroz"],
}
MONTHS = {
    "en": ["March", "April", "May", "June", "July", "August"],
    "es": ["marzo", "abril", "mayo", "junio", "julio", "agosto"],
}


def documents(**fields):
    return [
        Document(
            id=f"{lang}-{n}",
            text=SOWN[lang][0].format(CROPS[lang][n], MONTHS[lang][n]),
            metadata={"group": n},
            **({"lang": lang} | fields),
        )
        for lang in SOWN
        for n in range(6)
    ]


def questions(**fields):
    return [
        Question(
            id=f"{lang}-q{n}",
            question=SOWN[lang][1].format(CROPS[lang][n]),
            reference=MONTHS[lang][n],
            document_ids=[f"{lang}-{n}"],
            **({"lang": lang} | fields),
        )
        for lang in SOWN
        for n in range(6)
    ]


def write_study(folder, fake):
    """Write six documents and questions in two languages, and settings with the endpoint that answers."""
    write_rows(folder / "documents.jsonl", documents(), Document)
    write_rows(folder / "questions.jsonl", questions(), Question)
    (folder / "ragstone.toml").write_text(
        '[documents]\npaths = ["documents.jsonl"]\ncopies = "group"\n'
        '[questions]\npath = "questions.jsonl"\n'
        '[bench.languages]\nretrievers = ["bm25"]\nk = 3\n' + fake.toml()
    )
    return folder


@pytest.fixture
def settings(tmp_path, fake_openai):
    return load_settings(write_study(tmp_path, fake_openai) / "ragstone.toml")


def changed(settings, **tables):
    return msgspec.structs.replace(settings, **tables)


def answering(settings, **keys):
    return changed(settings, answer=AnswerSection(model="openai/fake", **keys))


def studied(settings, **keys):
    study = msgspec.structs.replace(settings.bench.languages, **keys)
    return changed(settings, bench=BenchSection(languages=study))


def test_a_study_writes_numbers_rankings_manifest_and_page(settings, tmp_path):
    study = ragstone.bench_languages(settings)
    folder = tmp_path / "runs" / "run-languages"
    assert {file.name for file in folder.iterdir()} == {
        "documents.jsonl",
        "questions.jsonl",
        "rankings-bm25-en.jsonl",
        "rankings-bm25-es.jsonl",
        "rankings-bm25-all-languages.jsonl",
        "languages.json",
        "manifest.json",
        "report.html",
    }
    assert msgspec.to_builtins(read_study(folder)) == msgspec.to_builtins(study)
    assert study.langs == ["en", "es"]
    cells = {(cell.lang, cell.index): cell.measures["recall@1"].value for cell in study.cells}
    assert cells["en", "en"] == cells["es", "es"] == cells["es", ALL] == 1.0
    assert cells["en", "es"] < 1.0  # no word in common
    assert {one.comparison.verdict for one in study.verdicts} == {"cannot tell"}
    assert study.accuracy == []
    assert "No model answered" in study.unanswered


def test_run_again_every_number_is_the_same_and_no_call_is_made(settings, fake_openai):
    first = ragstone.bench_languages(answering(settings))
    n_requests = fake_openai.n_requests
    second = ragstone.bench_languages(answering(settings))
    assert fake_openai.n_requests == n_requests
    assert second.calls.made == 0
    assert msgspec.structs.replace(second, calls=first.calls) == first


def test_answers_come_from_the_own_index_and_from_that_of_all(settings, tmp_path, fake_openai):
    def script(body):
        """Read the month from the passages that speak of the crop asked for; German for `wheat`."""
        prompt = prompt_of(body)
        asked = prompt.rpartition("<question")[2]
        crop = next(crop for crops in CROPS.values() for crop in crops if crop in asked)
        line = next(line for line in prompt.splitlines() if crop in line and re.match(r"\[\d+\]", line))
        return "im Winter" if crop == "wheat" else line

    fake_openai.script = script
    study = ragstone.bench_languages(answering(settings))
    verdicts = {one.lang: one for one in study.accuracy}
    assert verdicts["en"].own.value == verdicts["en"].together.value == 5 / 6
    assert verdicts["es"].own.value == 1.0
    [wrong] = study.wrong
    assert (wrong.question_id, wrong.own.right, wrong.together.right) == ("en-q0", False, False)
    assert (wrong.own.documents[0].document_id, wrong.own.documents[0].copy) == ("en-0", True)
    overlap = {one.lang: one.overlap for one in study.overlaps}[ALL]
    assert (overlap.n, overlap.n_only_a, overlap.n_both, overlap.n_only_b) == (12, 0, 1, 0)
    folder = tmp_path / "runs" / "run-languages"
    assert len(list(read_rows(folder / "answers.jsonl", Answer))) == 24
    [line] = (folder / "wrong_answers.jsonl").read_text().splitlines()
    assert json.loads(line)["together"]["answer"] == "im Winter"
    manifest = json.loads((folder / "manifest.json").read_text())
    assert manifest["judges"].keys() == {"containment"}
    assert "wrong_answers.jsonl" in manifest["files"]
    assert study.models["answer"].startswith("openai/fake")


MINE = 'name = "mine"\nversion = 1\nprompt = "In a word: {question} By {contexts}."\n'


def test_own_prompts_and_temperatures_are_axes_of_the_answers(settings, tmp_path, fake_openai):
    # `mine` is right on everything, the shipped prompt on nothing, whatever the temperature.
    (tmp_path / "mine.toml").write_text(MINE)
    months = [month for some in MONTHS.values() for month in some]
    fake_openai.script = lambda body: " ".join(months) if "In a word" in prompt_of(body) else "No idea."
    axes = answering(studied(settings, prompts=["bare", "mine.toml"], temperatures=[0, 0.1]))
    n_foreseen, n_before = forecast_study(axes).calls, fake_openai.n_requests
    study = ragstone.bench_languages(axes)
    assert (n_foreseen, n_before) == (fake_openai.n_requests, 0)
    assert {(body["temperature"], "In a word" in prompt_of(body)) for body in fake_openai.bodies} == {
        (temperature, mine) for temperature in (0, 0.1) for mine in (True, False)
    }
    arms = {one.arm: one.own.value for one in study.accuracy if one.lang == ALL}
    assert arms == {
        "bm25 · bare at 0": 0.0,
        "bm25 · bare at 0.1": 0.0,
        "bm25 · mine at 0": 1.0,
        "bm25 · mine at 0.1": 1.0,
    }
    found = {(one.axis, one.value): one for one in study.axes}
    assert (found["prompt", "mine"].baseline.value, found["prompt", "mine"].mean.value) == (0.0, 1.0)
    assert found["prompt", "mine"].comparison.difference.value == 1.0
    assert found["temperature", "0.1"].comparison.verdict == "cannot tell"
    rows = list(read_rows(tmp_path / "runs/run-languages/answers.jsonl", Answer))
    assert len({(row.question_id, row.system) for row in rows}) == len(rows) == 8 * 12
    assert rows[0].system == f"bm25, {OWN}/bare/fake/temperature 0"


def test_similarities_are_an_axis_of_dense_retrievers_alone(settings, fake_openai):
    def stretched(body):
        """Vectors of words; that of wheat is nine times as long, so a product prefers it, wrongly."""
        rows = sorted(json.loads(embed_words(body, 1024).raw)["data"], key=lambda row: row["index"])
        lengths = [9.0 if "trigo en" in text else 1.0 for text in body["input"]]
        return vectors_said([[n * x for x in row["embedding"]] for n, row in zip(lengths, rows, strict=True)])

    fake_openai.embedding = stretched
    axes = studied(settings, retrievers=["bm25", "dense"], similarities=["cosine", "dot", "l2"])
    axes = changed(axes, retrieve=RetrieveSection(embedder="openai/fake"))
    n_foreseen = forecast_study(axes).calls
    study = ragstone.bench_languages(axes)
    assert n_foreseen == fake_openai.n_requests > 0
    names = ["bm25", "dense by cosine", "dense by dot", "dense by l2"]
    assert list(dict.fromkeys(one.retriever for one in study.verdicts)) == names
    assert {(one.axis, one.value, one.against, one.comparison.measure) for one in study.axes} == {
        ("similarity", value, "cosine", "mrr") for value in ("dot", "l2")
    }
    spanish = {one.retriever: one.own.value for one in study.verdicts if one.lang == "es"}
    assert spanish["dense by cosine"] == 1.0
    # Of six questions the one on wheat is right; of the others the right sheet is second: (1 + 5 / 2) / 6.
    assert spanish["dense by dot"] == pytest.approx(3.5 / 6)
    assert {one.baseline.n for one in study.axes} == {12}


def test_similarities_without_vectors_are_refused(settings, says):
    with pytest.raises(ConfigError) as error:
        ragstone.bench_languages(studied(settings, similarities=["dot"]))
    says(error.value)


def test_axes_of_one_value_ask_what_none_asks(settings, fake_openai):
    # The default is the prompt of `[answer]` at temperature 0: named, it makes no call that was not made.
    ragstone.bench_languages(answering(settings, prompt="bare"))
    n_requests = fake_openai.n_requests
    named = answering(studied(settings, prompts=["bare"], temperatures=[0]), prompt="bare")
    assert ragstone.bench_languages(named, force=True).axes == []
    assert fake_openai.n_requests == n_requests


def test_statements_are_asked_by_the_named_prompts_too(settings, tmp_path, fake_openai):
    (tmp_path / "mine.toml").write_text(MINE)
    write_rows(
        tmp_path / "questions.jsonl",
        [msgspec.structs.replace(q, kind="true_false", reference="true") for q in questions()],
        Question,
        force=True,
    )
    fake_openai.script = always("True, verdadero.")
    ragstone.bench_languages(answering(studied(settings, prompts=["mine.toml"])))
    assert all("In a word" in prompt for prompt in fake_openai.prompts)
    ragstone.bench_languages(answering(settings), force=True)
    assert "is a statement" in fake_openai.prompts[-1]


def test_temperature_of_answers_is_that_of_the_settings(settings, fake_openai):
    ragstone.bench_languages(answering(settings, temperature=0.7))
    assert {body["temperature"] for body in fake_openai.bodies} == {0.7}


def test_prompts_that_cannot_be_told_apart_or_found_are_refused_before_a_call(
    settings, tmp_path, fake_openai
):
    for name in ("one.toml", "two.toml"):
        (tmp_path / name).write_text(MINE)
    for prompts, says in (
        (["one.toml", "two.toml"], "'one.toml' and 'two.toml' are both named 'mine'"),
        (["stric"], "Did you mean 'strict'"),
    ):
        for ask in (ragstone.bench_languages, forecast_study):
            with pytest.raises(ConfigError, match=says):
                ask(answering(studied(settings, prompts=prompts)))
    assert fake_openai.n_requests == 0


def test_answer_limit_is_of_each_language(settings):
    study = ragstone.bench_languages(answering(settings, limit=2))
    assert [cost.n_answers for cost in study.costs] == [4, 4]
    assert study.cells[0].n_questions == 6


def test_questions_limit_is_of_each_language(settings):
    few = changed(settings, questions=QuestionsSection(path="questions.jsonl", limit=2))
    assert ragstone.bench_languages(few).questions == {"en": 2, "es": 2}


def test_budget_that_ends_leaves_answers_without_a_score(settings, fake_openai):
    study = ragstone.bench_languages(answering(settings), budget="3calls")
    assert fake_openai.n_requests == 3
    assert sum(cost.n_unscored for cost in study.costs) > 0


def test_endpoint_that_refuses_stops_the_study_with_its_reason(settings, fake_openai):
    fake_openai.script = always(fail(401, "no such key"))
    with pytest.raises(ragstone.ModelError, match="no such key"):
        ragstone.bench_languages(answering(settings))


@pytest.mark.pack
def test_statements_of_xquad_are_judged_in_their_language(tmp_path, shared_data, fake_openai):
    # The scripted model says "true" of everything, in the language of the statement: the five true
    # statements are right in both languages, from both indexes, and the five false ones wrong.
    def script(body):
        return (
            "Verdadero."
            if re.search(r"\b(el|la|los|fue)\b", prompt_of(body).rpartition("<question")[2], re.IGNORECASE)
            else "True"
        )

    fake_openai.script = script
    write_rows(tmp_path / "documents.jsonl", statement_documents(shared_data / "xquad"), Document)
    write_rows(tmp_path / "questions.jsonl", statement_questions(), Question)
    (tmp_path / "ragstone.toml").write_text(
        '[documents]\npaths = ["documents.jsonl"]\ncopies = "parallel_id"\n'
        '[questions]\npath = "questions.jsonl"\n[answer]\nmodel = "openai/fake"\n'
        '[bench.languages]\nretrievers = ["bm25"]\n' + fake_openai.toml()
    )
    study = ragstone.bench_languages(load_settings(tmp_path / "ragstone.toml"))
    assert {(one.lang, one.own.value, one.together.value) for one in study.accuracy} == {
        ("en", 0.5, 0.5),
        ("es", 0.5, 0.5),
        (ALL, 0.5, 0.5),
    }
    assert study.n_wrong == 10
    assert all(row.reference == ["False"] and len(row.own.documents) == 5 for row in study.wrong)
    assert any("is a statement" in prompt for prompt in fake_openai.prompts)
    assert {answer.system for answer in read_rows(tmp_path / "runs/run-languages/answers.jsonl", Answer)} == {
        f"bm25, {index}/true_false/fake" for index in (OWN, ALL)
    }


def test_languages_that_rows_do_not_say_are_detected_and_told(settings, tmp_path, says):
    more = {"en": " That is how it has always been.", "es": " Así se ha hecho siempre en esta tierra."}
    unsaid = [msgspec.structs.replace(d, text=d.text + more[d.lang], lang=None) for d in documents()]
    write_rows(tmp_path / "documents.jsonl", unsaid, Document, force=True)
    write_rows(tmp_path / "questions.jsonl", questions(lang=None), Question, force=True)
    study = ragstone.bench_languages(settings)
    assert study.documents == {"en": 6, "es": 6}
    assert study.questions == {"en": 6, "es": 6}
    says("\n".join(study.notes))


def test_questions_in_a_language_without_documents_are_told_and_left_out(settings, tmp_path, says):
    german = Question(id="de", question="Wann sät man Weizen (wheat)?", document_ids=["en-0"], lang="de")
    write_rows(tmp_path / "questions.jsonl", [*questions(), german], Question, force=True)
    study = ragstone.bench_languages(settings)
    says("\n".join(study.notes))
    assert "de" in {cell.lang for cell in study.cells}
    assert "de" not in {one.lang for one in study.verdicts}


def test_filters_by_language_do_not_hide_what_is_studied(settings, says):
    own = changed(settings, retrieve=RetrieveSection(match=["lang"]))
    study = ragstone.bench_languages(own)
    cells = {(cell.lang, cell.index): cell for cell in study.cells}
    assert cells["en", "es"].measures["recall@3"].value >= 0
    says("\n".join(study.notes))


def test_chosen_languages_alone_are_studied(settings, tmp_path):
    more = [
        *documents(),
        Document(id="de-0", text="Weizen sät man im März.", lang="de", metadata={"group": 0}),
    ]
    write_rows(tmp_path / "documents.jsonl", more, Document, force=True)
    assert ragstone.bench_languages(studied(settings, langs=["en", "es"])).langs == ["en", "es"]
    assert ragstone.bench_languages(settings, force=True).langs == ["de", "en", "es"]


def test_retriever_that_fails_is_listed_with_its_reason(settings):
    down = msgspec.convert(
        {"kind": "rerank", "of": "bm25", "by": "openai/nobody"}, ragstone.kernel.config.RerankSettings
    )
    broken = changed(
        studied(settings, retrievers=["bm25", "down"]),
        retrievers={"down": down},
        models={
            "openai/nobody": msgspec.structs.replace(
                settings.models["openai/fake"], api_key_env="NO_SUCH_KEY"
            )
        },
    )
    study = ragstone.bench_languages(broken)
    assert {cell.retriever for cell in study.cells} == {"bm25"}
    assert [one.retriever for one in study.failed] == ["down"]
    assert "NO_SUCH_KEY" in study.failed[0].reason


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda s: changed(s, documents=DocumentsSection(paths=["documents.jsonl"])), r"copies = "),
        (lambda s: changed(s, documents=DocumentsSection(copies="group")), "needs questions and documents"),
        (lambda s: studied(s, retrievers=[]), "retrievers is empty"),
        (lambda s: studied(s, retrievers=["bm52"]), "Did you mean 'bm25'"),
        (lambda s: studied(s, langs=["en"]), "in one language"),
        (lambda s: studied(s, langs=["en", "fr"]), "no document is in 'fr'"),
        (
            lambda s: changed(
                studied(s, retrievers=["far"]), retrievers={"far": HttpSettings(url="http://localhost/")}
            ),
            "'far' searches elsewhere",
        ),
    ],
)
def test_study_that_cannot_be_is_refused(settings, change, says):
    with pytest.raises(ConfigError, match=says):
        ragstone.bench_languages(change(settings))


def test_documents_that_cannot_be_studied_are_refused(settings, tmp_path, says):
    other = changed(settings, documents=DocumentsSection(paths=["documents.jsonl"], copies="parallel"))
    with pytest.raises(DataError) as error:
        ragstone.bench_languages(other)
    says(error.value)
    write_rows(tmp_path / "documents.jsonl", documents(lang="en"), Document, force=True)
    with pytest.raises(ConfigError) as error:
        ragstone.bench_languages(settings)
    says(error.value)
    unknown = [*documents(), Document(id="x", text="12 34", metadata={"group": 1})]
    write_rows(tmp_path / "documents.jsonl", unknown, Document, force=True)
    with pytest.raises(DataError) as error:
        ragstone.bench_languages(settings)
    says(error.value)


def test_questions_that_cannot_be_studied_are_refused(settings, tmp_path):
    for rows, says in (
        ([Question(id="q", question="When?", lang="en")], "no question names the documents"),
        (questions(lang="fr"), "the questions are in fr, but no document is"),
        ([Question(id="q", question="12?", document_ids=["gone"])], "question 'q' does not say its language"),
    ):
        write_rows(tmp_path / "questions.jsonl", rows, Question, force=True)
        with pytest.raises(DataError, match=says):
            ragstone.bench_languages(settings)


def test_reference_that_is_neither_true_nor_false_is_refused_before_a_call(
    settings, tmp_path, fake_openai, says
):
    write_rows(tmp_path / "questions.jsonl", questions(kind="true_false"), Question, force=True)
    with pytest.raises(DataError) as error:
        ragstone.bench_languages(answering(settings))
    says(error.value)
    assert fake_openai.n_requests == 0


def test_keys_have_the_documented_defaults():
    assert (LanguagesBench().k, LanguagesBench().retrievers) == (5, ["bm25", "dense"])


def test_a_copy_counts_where_retrieval_is_measured_by_a_run_too(settings, tmp_path):
    # The only document for each Spanish question is the English one, of which the relevant one is a copy.
    def recall(settings):
        rankings = tmp_path / "rankings.jsonl"
        write_rows(rankings, given, Ranking, force=True)
        return measure_rankings(settings, rankings).retrieval.measures["recall@1"].value

    given = [
        Ranking(question_id=q.id, retriever="r", items=[RankingItem(document_id=f"en-{n % 6}", score=1.0)])
        for n, q in enumerate(questions())
    ]
    assert recall(settings) == 1.0
    run = changed(
        settings, answer=AnswerSection(model="openai/fake"), judge=JudgeSection(judges=["containment"])
    )
    copied = ragstone.run(run).retrieval[0].measures["hit@3"].value
    alone = msgspec.structs.replace(settings.documents, copies=None)
    assert recall(changed(settings, documents=alone)) == 0.5
    # Spanish questions name English documents, so BM25 finds a copy, and nothing else, in first place.
    write_rows(
        tmp_path / "questions.jsonl",
        [msgspec.structs.replace(q, document_ids=[f"en-{n % 6}"]) for n, q in enumerate(questions())],
        Question,
        force=True,
    )
    assert ragstone.run(run, force=True).retrieval[0].measures["hit@1"].value == copied == 1.0
    plain = changed(run, documents=alone)
    assert ragstone.run(plain, force=True).retrieval[0].measures["hit@1"].value == 0.5


@pytest.mark.server
def test_exact_search_faiss_and_qdrant_find_the_same(settings):
    indexes = {name: ragstone.kernel.config.DenseSettings(index=name) for name in ("faiss", "qdrant")}
    three = changed(studied(settings, retrievers=["dense", *indexes]), retrievers=indexes)
    study = ragstone.bench_languages(three)
    assert study.failed == []
    found = {
        name: [(c.lang, c.index, c.measures) for c in study.cells if c.retriever == name]
        for name in ("dense", *indexes)
    }
    assert found["dense"] == found["faiss"] == found["qdrant"]
    assert all(c.measures["recall@3"].value > 0.5 for c in study.cells)
