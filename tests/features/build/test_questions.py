"""Documents become an evaluation set: exactly as many as wanted, and the same again for nothing."""

from collections import Counter
from pathlib import Path

import msgspec
import pytest
from tests.support.fake_openai import FakeOpenAI
from tests.support.scripted_writer import write_questions, writer
from tests.support.scripts import Body, always, fail, fenced, in_turn, nonce_in, prompt_of, say, schema_in

from ragstone.features.build.questions import build_questions, forecast_questions
from ragstone.kernel.config import BuildSection, ModelSettings, Settings, choose
from ragstone.kernel.dataset.placing import place_evidence
from ragstone.kernel.errors import ConfigError, DataError, ModelError
from ragstone.kernel.records import Chunk, Document, Question
from ragstone.kernel.tables import read_rows

CROPS = ["wheat", "maize", "rice", "beans", "sorghum", "millet", "barley", "cotton"]


def crop(name: str) -> Document:
    """Return a document of four sentences, of which each holds an answer."""
    return Document(
        id=name,
        title=f"Growing {name}",
        text=(
            f"Farmers who grow {name} sow the seed in the second half of October. "
            f"A field of {name} needs forty kilograms of nitrogen for each hectare. "
            f"The worst pest of {name} in the highlands is the grey stem borer. "
            f"Stored {name} keeps for nine months if it is dry and the sacks are closed."
        ),
        lang="en",
    )


DOCUMENTS = [crop(name) for name in CROPS]


def declared(fake: FakeOpenAI, root: Path, **build: object) -> Settings:
    """Return settings in which the fake endpoint writes and judges."""
    return choose(fake.settings(root=root), "build", **{"model": fake.model, "planted": 0, **build})


def test_each_document_gives_its_questions_with_evidence(fake_openai, tmp_path):
    fake_openai.script = write_questions
    built = build_questions(DOCUMENTS, settings=declared(fake_openai, tmp_path))
    assert Counter(q.document_ids[0] for q in built.questions if q.document_ids) == dict.fromkeys(CROPS, 3)
    texts = {document.id: document.text for document in DOCUMENTS}
    for question in built.questions:
        (evidence,) = question.evidence or []
        quoted = texts[evidence.document_id][evidence.start : evidence.end]
        assert str(question.reference).rstrip(".") in quoted
        assert question.scores == {"groundedness": 5, "relevance": 5, "stand_alone": 5}
    moved = [msgspec.structs.replace(one, text=f"News. {one.text}") for one in DOCUMENTS]
    placed = place_evidence(built.questions, moved)
    assert (placed.n_changed, len(placed.moved)) == (len(CROPS), len(built.questions))
    assert place_evidence(built.questions, DOCUMENTS).n_changed == 0
    assert [q.id for q in built.questions[:4]] == ["wheat#1", "wheat#2", "wheat#3", "maize#1"]
    assert built.is_whole


def test_second_build_makes_no_call_and_the_same_files(fake_openai, tmp_path):
    fake_openai.script = writer(lambda question: 3 if "pest" in question else 5)
    settings = declared(
        fake_openai, tmp_path, planted=8, test_share=0.5, closed_book="tag", fictional=True, negatives=2
    )
    output = tmp_path / "set" / "questions.jsonl"
    first = build_questions(DOCUMENTS, settings=settings, output=output)
    before = {path: path.read_bytes() for path in first.files}
    assert {path.relative_to(output.parent).as_posix() for path in before} == {
        *("questions.jsonl", "questions.all.jsonl", "questions.dev.jsonl", "questions.test.jsonl"),
        *("certificate.json", "certificate.html", "fictional/documents.jsonl", "fictional/questions.jsonl"),
    }
    n_requests = fake_openai.n_requests
    again = build_questions(DOCUMENTS, settings=settings, output=output, force=True)
    assert fake_openai.n_requests == n_requests
    assert again.calls.made == 0
    assert {path: path.read_bytes() for path in again.files} == before


def test_lost_questions_are_kept_with_their_reason(fake_openai, tmp_path):
    fake_openai.script = writer(lambda question: 3 if "pest" in question else 5)
    output = tmp_path / "set" / "questions.jsonl"
    built = build_questions(DOCUMENTS, settings=declared(fake_openai, tmp_path), output=output)
    accepted = list(read_rows(output, Question))
    every = list(read_rows(output.with_name("questions.all.jsonl"), Question))
    assert not any("pest" in question.question for question in accepted)
    lost = [question for question in every if "lost" in (question.metadata or {})]
    assert len(accepted) + len(lost) == len(every) == 24
    assert all((question.metadata or {})["lost"]["reason"] == "low_score" for question in lost)
    assert {question.question for question in lost} == {
        question.question for question in every if "pest" in question.question
    }
    assert built.questions == accepted


def test_count_is_met_exactly_from_different_documents(fake_openai, tmp_path):
    fake_openai.script = writer(lambda question: 2 if "Farmers" in question else 5)
    built = build_questions(DOCUMENTS, settings=declared(fake_openai, tmp_path), count=6)
    assert len(built.questions) == 6
    assert len({question.id.partition("#")[0] for question in built.questions}) == 6
    assert built.is_whole


def test_count_beyond_what_the_documents_give_is_a_stated_shortfall(fake_openai, tmp_path):
    fake_openai.script = write_questions
    built = build_questions(DOCUMENTS[:2], settings=declared(fake_openai, tmp_path), count=50)
    assert len(built.questions) == 6  # two documents, three each
    assert not built.is_whole
    assert any("50" in caution and "44 short" in caution for caution in built.certificate.cautions)


def test_count_is_met_from_the_passages_of_one_long_document(fake_openai, tmp_path):
    fake_openai.script = write_questions
    text = "\n\n".join(f"# {name}\n\n{crop(name).text}" for name in CROPS)
    settings = declared(fake_openai, tmp_path, passage=400)
    built = build_questions([Document(id="book", text=text, lang="en")], settings=settings, count=12)
    assert len(built.questions) == 12  # of 8 passages, 3 of each at the most
    assert len({q.evidence[0].start // 300 for q in built.questions if q.evidence}) > 6  # from all over it


def test_offline_build_that_the_ledger_knows_nothing_of_replaces_nothing(fake_openai, tmp_path):
    fake_openai.script = write_questions
    settings, output = declared(fake_openai, tmp_path), tmp_path / "q" / "questions.jsonl"
    build_questions(DOCUMENTS, settings=settings, output=output, count=3)
    before = output.read_bytes()
    with pytest.raises(ModelError, match="without --offline"):
        build_questions([crop("oats")], settings=settings, output=output, force=True, offline=True)
    assert output.read_bytes() == before


def test_seed_decides_which_documents_are_asked(fake_openai, tmp_path):
    fake_openai.script = write_questions

    def asked(seed: int) -> list[str]:
        settings = choose(declared(fake_openai, tmp_path), "run", seed=seed)
        return [question.id for question in build_questions(DOCUMENTS, settings=settings, count=3).questions]

    assert asked(1) == asked(1)
    assert len({tuple(asked(seed)) for seed in range(4)}) > 1


def test_book_closed_drops_what_the_model_knows(fake_openai, tmp_path):
    def script(body: Body) -> object:
        fields = (schema_in(body) or {}).get("properties", {})
        if set(fields) == {"nonce", "answer"}:
            known = "Farmers" in fenced("question", prompt_of(body))
            said = "the second half of October" if known else "I do not know"
            return msgspec.json.encode({"nonce": nonce_in(body), "answer": said}).decode()
        return write_questions(body)

    fake_openai.script = script  # type: ignore[assignment]
    built = build_questions(DOCUMENTS, settings=declared(fake_openai, tmp_path, closed_book="drop"))
    reasons = Counter(one.loss.reason for one in built.built.candidates if one.loss)
    assert reasons == {"known_by_heart": 8}


@pytest.mark.parametrize(
    "said",
    [
        say("", refusal="I will not do that."),
        "Certainly! Here are some questions about farming.",
        say('{"nonce": "0", "questions": [{"quo', finish_reason="length"),
    ],
    ids=["refuses", "prose", "cut off"],
)
def test_model_that_gives_nothing_usable_ends_with_a_certificate(said, fake_openai, tmp_path):
    fake_openai.script = always(said)  # type: ignore[arg-type]
    output = tmp_path / "set" / "questions.jsonl"
    built = build_questions(DOCUMENTS, settings=declared(fake_openai, tmp_path), output=output)
    assert built.questions == []
    assert len(built.built.failed) == 8
    assert not built.is_whole
    assert (output.parent / "certificate.json").is_file()
    assert output.read_bytes() == b""


def test_documents_without_text_are_counted(fake_openai, tmp_path):
    fake_openai.script = write_questions
    empty = [Document(id="blank", text="  \n"), Document(id="none", text="")]
    built = build_questions([*DOCUMENTS[:1], *empty], settings=declared(fake_openai, tmp_path))
    assert built.built.empty == ["blank", "none"]
    assert len(built.questions) == 3
    assert not built.is_whole
    nothing = build_questions(empty, settings=declared(fake_openai, tmp_path))
    assert nothing.questions == []
    assert nothing.calls.made == 0


def test_document_longer_than_the_context_is_split_and_said(fake_openai, tmp_path):
    fake_openai.script = write_questions
    long = Document(id="long", text="\n\n".join(document.text for document in DOCUMENTS), lang="en")
    settings = choose(
        fake_openai.settings(root=tmp_path, context_tokens=2600), "build", model=fake_openai.model
    )
    built = build_questions([long], settings=settings)
    assert built.built.split == ["long"]
    assert max(len(passage.text) for passage in built.built.passages) <= 600
    assert any("600" in said for said in [*built.certificate.cautions, *built.certificate.remarks])


def test_budget_cuts_off_what_is_beyond_it_and_the_rest_is_valid(fake_openai, tmp_path):
    fake_openai.script = write_questions
    settings = declared(fake_openai, tmp_path, one_call=True)
    built = build_questions(DOCUMENTS, settings=settings, budget="20calls")
    assert fake_openai.n_requests == 20
    assert len(built.questions) == 12  # eight calls write, the other twelve judge
    assert built.calls.failed == {"over_budget": 12}


def test_forecast_counts_what_is_asked(fake_openai, tmp_path):
    fake_openai.script = write_questions
    settings = declared(fake_openai, tmp_path, closed_book="tag")
    forecast = forecast_questions(DOCUMENTS, settings)
    build_questions(DOCUMENTS, settings=settings)
    # 8 documents: a call that writes three, three critics and one closed book for each of the 24.
    assert forecast.calls == fake_openai.n_requests == 8 + 24 * 4
    assert forecast_questions(DOCUMENTS, settings).calls == 0


def test_forecast_of_the_rest_of_a_build_counts_what_is_left(fake_openai, tmp_path):
    fake_openai.script = write_questions
    settings = declared(fake_openai, tmp_path, count=16)
    build_questions(DOCUMENTS, settings=settings, budget="8calls")
    # 8 documents are asked for 2 questions each, which the ledger has; three critics of each are left.
    assert forecast_questions(DOCUMENTS, settings).calls == 16 * 3


def test_forecast_of_many_documents_counts_what_is_wanted_once(tmp_path):
    # A forecast looks at every third of 1,200 documents.
    fake = FakeOpenAI()
    settings = declared(fake, tmp_path, planted=10, per_document=1)
    many = [crop(f"oats {n}") for n in range(1200)]
    few = forecast_questions(many, choose(settings, "build", count=3, negatives=2))
    assert few.calls == forecast_questions(many[:3], choose(settings, "build", count=3, negatives=2)).calls
    # Without a count each is asked: a call that writes, three critics; and 10 defects for 3 critics at most.
    assert 4 * 1200 < forecast_questions(many, settings).calls <= 4 * 1200 + 30


def test_forecast_of_chunks_asks_each_document_once(tmp_path):
    texts = [crop(f"oats {n}").text for n in range(2400)]
    chunks = [
        Chunk(
            id=f"{n}", document_id=f"d{n // 4}", text=text, start=n % 4 * 1000, end=n % 4 * 1000 + len(text)
        )
        for n, text in enumerate(texts)
    ]
    settings = declared(FakeOpenAI(), tmp_path, per_document=1)
    assert forecast_questions(chunks, settings).calls == 600 * 4  # documents; writing it and three critics


def test_forecast_asks_once_for_documents_in_another_language(fake_openai, tmp_path):
    document = Document(id="hi", text="मक्का अप्रैल के अंत में बोया जाता है और सितंबर में काटा जाता है।" * 3, lang="hi")
    # One call writes three, and three critics judge each.
    assert forecast_questions([document], declared(fake_openai, tmp_path)).calls == 1 + 3 * 3


def test_model_that_is_not_there_ends_the_build(fake_openai, tmp_path):
    fake_openai.script = in_turn(fail(404, "no such model"))
    with pytest.raises(ModelError):
        build_questions(DOCUMENTS, settings=declared(fake_openai, tmp_path))


@pytest.mark.parametrize(
    ("build", "says"),
    [
        (BuildSection(), "--model"),
        (BuildSection(model="openai/fake", styles=["multi_hop"]), "--multi-hop"),
        (BuildSection(model="openai/fake", styles=["fact"]), "unknown style"),
        (BuildSection(model="openai/fake", styles=[]), "styles"),
        (BuildSection(model="openai/fake", styles=["persona"]), "personas"),
        (BuildSection(model="openai/fake", critics=["grounded"]), "unknown critic"),
        (BuildSection(model="openai/fake", count=3, negatives=4), "more than the 3"),
        (BuildSection(model="openai/fake", fictional=True), "output"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_cannot_be_followed_is_refused_before_a_call(build, says, fake_openai, tmp_path):
    settings = msgspec.structs.replace(fake_openai.settings(root=tmp_path), build=build)
    with pytest.raises((ConfigError, ModelError), match=says):
        build_questions(DOCUMENTS, settings=settings)
    assert fake_openai.n_requests == 0


def test_count_of_nothing_is_refused(fake_openai, tmp_path):
    with pytest.raises(ConfigError, match="count"):
        build_questions(DOCUMENTS, settings=declared(fake_openai, tmp_path), count=0)


def test_context_without_room_for_a_passage_is_refused(fake_openai, tmp_path):
    settings = declared(fake_openai, tmp_path)
    small = {fake_openai.model: ModelSettings(base_url=fake_openai.base_url, context_tokens=2048)}
    with pytest.raises(ConfigError, match="context_tokens"):
        build_questions(DOCUMENTS, settings=msgspec.structs.replace(settings, models=small))


def test_folder_of_another_build_is_not_written_to(fake_openai, tmp_path):
    fake_openai.script = write_questions
    settings = declared(fake_openai, tmp_path)
    build_questions(DOCUMENTS[:1], settings=settings, output=tmp_path / "set" / "questions.jsonl")
    n_requests = fake_openai.n_requests
    for name, force in [("questions.jsonl", False), ("others.jsonl", True)]:
        with pytest.raises(DataError):
            build_questions(DOCUMENTS, settings=settings, output=tmp_path / "set" / name, force=force)
    assert fake_openai.n_requests == n_requests
