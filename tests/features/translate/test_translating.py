import msgspec
import pytest
from tests.support.fake_retriever import Answered, serving
from tests.support.phrase_book import from_book, translated
from tests.support.scripts import always, fail

import ragstone
from ragstone.features.translate.translating import (
    Translating,
    check_langs,
    forecast_translating,
    plan,
    read_translatable,
    same,
    translate,
)
from ragstone.kernel.config import HttpTranslator, TranslateSection
from ragstone.kernel.errors import ConfigError, DataError, ModelError
from ragstone.kernel.llm import _calling as calling
from ragstone.kernel.records import Document, Evidence, Question
from ragstone.kernel.tables import read_rows, write_rows

ENGLISH = Question(id="a", question="Who sowed the wheat of this village?", lang="en")
GERMAN = Question(id="b", question="Wer hat den Weizen dieses Dorfes gesät?", lang="de")
SILENT = Document(id="c", text="The farmers of this village sowed the wheat in spring.")


def test_rows_are_done_language_by_language():
    jobs = plan([ENGLISH, GERMAN], ["es", "hi"]).jobs
    assert [(job.row.id, job.source, job.target) for job in jobs] == [
        ("a", "en", "es"),
        ("b", "de", "es"),
        ("a", "en", "hi"),
        ("b", "de", "hi"),
    ]


def test_rows_in_a_language_wanted_are_counted():
    planned = plan([ENGLISH, GERMAN], ["de", "es"])
    assert [(job.row.id, job.target) for job in planned.jobs] == [("a", "de"), ("a", "es"), ("b", "es")]
    assert (planned.n_same, planned.n_other) == (1, 0)


def test_a_source_leaves_other_languages_out_and_counts_them():
    planned = plan([ENGLISH, GERMAN], ["es"], "de")
    assert [job.row.id for job in planned.jobs] == ["b"]
    assert (planned.n_same, planned.n_other) == (0, 1)


def test_a_language_is_detected_or_taken_to_be_the_source():
    assert plan([SILENT], ["es"]).jobs[0].source == "en"
    assert plan([SILENT], ["es"], "fr").jobs[0].source == "fr"


def test_a_region_is_of_its_language():
    assert same("pt", "pt-BR")
    assert same("pt_br", "pt-BR")
    assert not same("pt-PT", "pt-BR")
    assert not same("es", "et")


@pytest.mark.parametrize(
    ("langs", "message"),
    [
        (["spanish"], "'spanish' is not a language code.*Did you mean 'es'"),
        (["xq"], "'xq' is not a language code"),
        (["es", "es"], "'es' is given twice"),
    ],
)
def test_a_code_that_is_no_language_is_told(langs, message):
    with pytest.raises(ConfigError, match=message):
        check_langs(langs)


def test_codes_with_regions_and_of_three_letters_are_taken():
    check_langs(["pt-BR", "zh_Hans", "ast", "hi"])


MODEL = "openai/fake"
WHEAT = "The wheat was sown by the farmers of the village in 1998."
MAIZE = "The maize of this region is harvested in October."
DOCUMENTS = [
    Document(id="d0", text=WHEAT, lang="en"),
    Document(id="d1", text=MAIZE, lang="en", title="Wheat and maize"),
]
QUESTIONS = [
    Question(
        id="d0#1",
        question="Who sowed the wheat in 1998?",
        reference="The farmers of the village",
        document_ids=["d0"],
        evidence=[Evidence(document_id="d0", start=0, end=len(WHEAT))],
        lang="en",
    ),
    Question(
        id="d1#1",
        question="When is the maize harvested?",
        reference="in October",
        document_ids=["d1"],
        lang="en",
    ),
]


@pytest.fixture
def settings(tmp_path, monkeypatch, fake_openai):
    monkeypatch.chdir(tmp_path)
    fake_openai.script = from_book
    (tmp_path / "ragstone.toml").write_text(fake_openai.toml())
    return ragstone.load_settings()


@pytest.fixture
def service(monkeypatch):
    """A translator behind HTTP that knows the book."""
    monkeypatch.setattr(calling, "backoff_s", lambda attempt, draw: 0.0)
    with serving() as server:
        server.script = lambda asked: {"translatedText": translated(asked.body["q"], asked.body["target"])}
        yield server


def with_http(settings, service, **given):
    declared = TranslateSection(by="http", http=HttpTranslator(**{"url": service.url, **given}))
    return msgspec.structs.replace(settings, translate=declared)


def test_questions_come_back_in_another_language_scored(settings, fake_openai, says):
    made = ragstone.translate(QUESTIONS, to="es", by=MODEL, settings=settings)
    first, second = made.questions.rows
    assert first.id == "d0#1@es"
    says(first.question)
    assert second.reference == "en octubre"
    assert first.metadata == {
        "parallel": "d0#1",
        "translation": {"from": "en", "by": MODEL, "chrf": 1.0},
    }
    assert made.documents is None
    assert made.summary.questions.n_translated == {"es": 2}
    assert made.summary.questions.chrf == {"es": 1.0}
    assert fake_openai.n_requests == 4  # a question and its reference together, there and back


def test_documents_are_translated_with_them_and_named_by_them(settings):
    made = translate(QUESTIONS, documents=DOCUMENTS, to=["es"], by=MODEL, settings=settings)
    texts = {document.id: document.text for document in made.documents.rows}
    assert list(texts) == ["d0@es", "d1@es"]
    first, second = made.questions.rows
    assert (first.document_ids, second.document_ids) == (["d0@es"], ["d1@es"])
    (span,) = first.evidence
    assert texts[span.document_id][span.start : span.end].startswith("El trigo fue sembrado")


def test_a_question_of_a_lost_document_points_at_the_original(settings):
    documents = [DOCUMENTS[0], Document(id="d1", text="The book does not know this sentence.", lang="en")]
    made = translate(QUESTIONS, documents=documents, to="es", by=MODEL, settings=settings)
    assert made.summary.documents.lost == {"es": {"untranslated": 1}}
    assert [row.document_ids for row in made.questions.rows] == [["d0@es"], ["d1"]]


def test_a_lost_row_is_kept_among_all_with_its_reason(settings):
    rows = [*QUESTIONS, Question(id="x", question="What does the book not know?", lang="en")]
    made = translate(rows, to="es", by=MODEL, settings=settings)
    assert [row.id for row in made.questions.rows] == ["d0#1@es", "d1#1@es"]
    assert [row.id for row in made.questions.every] == ["d0#1@es", "d1#1@es", "x@es"]
    assert made.questions.every[2].metadata["lost"] == {"step": "translate", "reason": "untranslated"}
    assert made.summary.questions.lost == {"es": {"untranslated": 1}}


def test_another_translator_may_translate_back_or_none(settings, fake_openai, service):
    declared = with_http(settings, service)
    made = translate(QUESTIONS, to="es", by=MODEL, back="http", settings=declared)
    assert (fake_openai.n_requests, len(service.asked)) == (2, 4)
    assert made.summary.questions.chrf == {"es": 1.0}
    made = translate(QUESTIONS, to="es", by=MODEL, back="none", settings=settings)
    assert made.summary.questions.chrf == {"es": None}
    assert fake_openai.n_requests == 2


def test_a_service_is_asked_for_each_text_once_and_never_again(settings, service, says):
    declared = with_http(settings, service)
    made = translate(QUESTIONS, to="es", settings=declared)
    says([row.question for row in made.questions.rows][1])
    assert len(service.asked) == made.summary.calls.made == 8
    again = translate(QUESTIONS, to="es", settings=declared)
    offline = translate(QUESTIONS, to="es", settings=declared, offline=True)
    assert len(service.asked) == 8
    assert again.questions == offline.questions == made.questions
    assert again.summary.calls.from_ledger == 8


def test_a_service_that_is_overloaded_is_asked_again(settings, service):
    answer, refused = service.script, []

    def script(asked):
        if not refused:
            refused.append(asked)
            return Answered(429, b"slow down", {"Retry-After": "0"})
        return answer(asked)

    service.script = script
    made = translate(QUESTIONS[:1], to="es", settings=with_http(settings, service))
    assert made.summary.questions.n_translated == {"es": 1}
    assert made.summary.calls.retries == 1


def test_no_more_calls_are_under_way_than_the_service_bears(settings, service):
    service.latency_s = 0.02
    translate(QUESTIONS, to="es", settings=with_http(settings, service, max_concurrency=2))
    assert service.most_in_flight == 2


def test_a_template_that_finds_no_text_ends_with_what_the_reply_holds(settings, service, says):
    with pytest.raises(ModelError) as error:
        translate(QUESTIONS, to="es", settings=with_http(settings, service, text="$.translation"))
    says(error.value)


def test_an_address_where_nobody_is_ends_the_command(settings, service):
    with pytest.raises(ModelError, match="cannot be reached"):
        translate(QUESTIONS, to="es", settings=with_http(settings, service, url="http://127.0.0.1:9/"))


def test_a_model_that_always_fails_ends_with_its_words(settings, fake_openai, says):
    fake_openai.script = always(fail(400, "no such language"))
    with pytest.raises(ModelError) as error:
        translate(QUESTIONS, to="es", by=MODEL, settings=settings)
    says(error.value)


def test_a_forecast_counts_both_ways_and_asks_nobody(settings, fake_openai, service):
    wanted = Translating(questions=QUESTIONS, documents=DOCUMENTS)
    declared = ragstone.kernel.config.choose(settings, "translate", by=MODEL, to=["es", "hi"])
    # A language: two questions there and back, two documents there and back, one title.
    assert forecast_translating(wanted, declared).calls == 2 * (4 + 4 + 1)
    http = ragstone.kernel.config.choose(with_http(settings, service), "translate", to=["es"])
    assert forecast_translating(Translating(questions=QUESTIONS), http).calls == 8
    assert (fake_openai.n_requests, len(service.asked)) == (0, 0)


def test_a_prompt_of_ones_own_is_used(settings, fake_openai, tmp_path, says):
    (tmp_path / "mine.toml").write_text(
        'name = "mine"\nversion = 1\nsource = "me"\nprompt = "From {source} into {target}, please."\n'
    )
    declared = ragstone.kernel.config.choose(settings, "translate", prompt="mine.toml")
    translate(QUESTIONS, to="es", by=MODEL, back="none", settings=declared)
    says(fake_openai.bodies[0]["messages"][0]["content"])


def test_long_documents_go_out_in_passages(settings, fake_openai):
    text = "\n\n".join([WHEAT, MAIZE] * 10)
    declared = ragstone.kernel.config.choose(settings, "translate", passage=200)
    made = translate([Document(id="d", text=text)], to="es", by=MODEL, back="none", settings=declared)
    # Three sentences have 155 or 164 characters, four 212: 20 / 3 = 7 calls, those that are alike made once.
    assert fake_openai.n_requests <= 7
    assert len(made.documents.rows[0].text.split("\n\n")) == 20


def test_with_the_originals_all_languages_are_in_one_list(settings):
    made = translate(QUESTIONS, documents=DOCUMENTS, to="es", by=MODEL, originals=True, settings=settings)
    assert [row.id for row in made.documents.rows] == ["d0", "d1", "d0@es", "d1@es"]
    assert [row.metadata["parallel"] for row in made.documents.rows] == ["d0", "d1", "d0", "d1"]
    assert [row.metadata["parallel"] for row in made.questions.rows][:2] == ["d0#1", "d1#1"]
    assert len(made.questions.every) == 2


def test_what_translate_makes_is_what_a_study_of_languages_takes(settings, tmp_path):
    made = translate(QUESTIONS, documents=DOCUMENTS, to="es", by=MODEL, originals=True, settings=settings)
    write_rows(tmp_path / "questions.jsonl", made.questions.rows, Question)
    write_rows(tmp_path / "documents.jsonl", made.documents.rows, Document)
    (tmp_path / "study.toml").write_text(
        '[documents]\npaths = ["documents.jsonl"]\ncopies = "parallel"\n'
        '[questions]\npath = "questions.jsonl"\n[bench.languages]\nretrievers = ["bm25"]\nk = 2\n'
    )
    study = ragstone.bench_languages(ragstone.load_settings(tmp_path / "study.toml"))
    assert {verdict.lang for verdict in study.verdicts} == {"en", "es", "all languages"}


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        ({"to": []}, ConfigError, "name the target languages"),
        ({"by": None}, ConfigError, "name the translator"),
        ({"by": "gpt"}, ConfigError, "unknown translator 'gpt'"),
        ({"by": "http"}, ConfigError, r"table \[translate.http\]"),
        ({"back": "nobody"}, ConfigError, "unknown translator 'nobody'"),
        ({"to": "spanish"}, ConfigError, "Did you mean 'es'"),
        ({"to": "en"}, DataError, "nothing to translate into en: 2 rows are in the language wanted"),
        ({"source": "de"}, DataError, "and 2 in a language other than --from names"),
        ({"rows": []}, DataError, "no rows to translate"),
        ({"rows": [Question(id="q", question="1998?")]}, DataError, "is not stated and cannot be detected"),
    ],
)
def test_a_mistake_is_told(settings, given, error, message):
    asked = {"rows": QUESTIONS, "to": "es", "by": MODEL, **given}
    with pytest.raises(error, match=message):
        translate(asked.pop("rows"), settings=settings, **asked)


def test_a_file_is_of_questions_or_of_documents(tmp_path, says):
    write_rows(tmp_path / "q.jsonl", QUESTIONS, Question)
    write_rows(tmp_path / "d.jsonl", DOCUMENTS, Document)
    assert read_translatable(tmp_path / "q.jsonl") == (QUESTIONS, [])
    assert read_translatable(tmp_path / "d.jsonl") == ([], list(read_rows(tmp_path / "d.jsonl", Document)))
    (tmp_path / "m.jsonl").write_text((tmp_path / "q.jsonl").read_text() + (tmp_path / "d.jsonl").read_text())
    with pytest.raises(DataError) as error:
        read_translatable(tmp_path / "m.jsonl")
    says(error.value)
