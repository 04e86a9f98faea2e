"""A log becomes questions and an answer sheet without personal data."""

import json

import msgspec
import pytest

import ragstone
from ragstone.kernel.config import SampleSection, Settings
from ragstone.kernel.errors import ConfigError, DataError
from ragstone.kernel.tables import read_rows

LOG = [
    {
        "id": "1",
        "question": "My name is Ann Lee, when is maize sown?",
        "answer": "Dear Ann, in spring. Call +1 555 234 9999 or +1 555 234 8888.",
        "contexts": ["Write to ann.lee@example.org"],
        "thumb": "down",
        "channel": "web",
        "fixed": "In April, Ann.",
        "model": "bot-2",
    },
    {"id": "2", "question": "What does a loan cost?", "thumb": "up", "channel": "app"},
    {"id": "3", "question": "what does a loan cost", "answer": "5 %.", "thumb": "down", "channel": "web"},
    {"id": "4", "question": "and for wheat?", "answer": "In autumn."},
    {"id": "5"},
]


def sampled(log=LOG, count=10, **options):
    return ragstone.sample_log(log, count, **{"by": "frequency", "settings": Settings(), **options})


def test_question_answer_reference_and_contexts_are_masked_together(says):
    sample = sampled(reference="fixed", tags=["channel"], quality="thumb")
    question = next(one for one in sample.questions if "maize" in one.question)
    says(question.question)
    assert question.reference == "In April, [name]."
    assert question.tags == {"channel": "web"}
    assert question.metadata == {
        "asked": 1,
        "quality": 0.0,
        "answer": "Dear [name], in spring. Call [phone-1] or [phone-2].",
    }
    answer = next(one for one in sample.answers if one.question_id == question.id)
    assert (answer.question, answer.system) == (question.question, "bot-2")
    assert [context.text for context in answer.contexts] == ["Write to [email]"]
    assert sample.summary.masked == {"email": 1, "name": 3, "phone": 2}


def test_asked_quality_and_the_first_answer_are_of_all_rows_that_ask_it(says):
    sample = sampled(quality="thumb")
    says(sample.questions[0].question)
    assert sample.questions[0].metadata == {"asked": 2, "quality": 0.5, "answer": "5 %."}  # (1 + 0) / 2
    assert sample.summary.log.left_out == {"follow_up": 1}
    assert sample.summary.log.without_question == 1
    assert (sample.summary.taken, sample.summary.missing, sample.summary.with_answer) == (2, 8, 2)


def test_languages_are_detected():
    sample = sampled([{"q": "कक्षा में मक्का की बुवाई कब और कैसे की जाती है?"}])
    assert sample.questions[0].lang == "hi"
    assert sample.summary.languages == {"hi": 1}


@pytest.mark.parametrize(
    ("row", "lang"),
    [
        ({"lang": "de-AT"}, "de-AT"),
        ({"metadata": {"language": "sw"}}, "sw"),
        ({"tags": {"lang": "de"}, "metadata": None}, "de"),
        ({"language": "German"}, "en"),
        ({"lang": "", "locale": "fr-FR"}, "en"),
        ({"lang": "und"}, "en"),
        ({"lang": 4}, "en"),
    ],
)
def test_the_language_that_a_row_names_comes_before_the_one_that_is_detected(row, lang):
    asked = {"question": "When should the farmers of this valley sow their maize?"}
    sample = sampled([{**asked, **row}])
    assert (sample.questions[0].lang, sample.summary.languages) == (lang, {lang: 1})


def test_personal_data_is_kept_on_demand():
    sample = sampled(keep_personal_data=True)
    assert any("Ann Lee" in one.question for one in sample.questions)
    assert sample.summary.masked is None


def test_words_of_the_settings_are_masked(says):
    settings = Settings(sample=SampleSection(mask=["loan"]))
    says(sampled(settings=settings).questions[0].question)
    with pytest.raises(ConfigError, match="regular expression"):
        sampled(settings=Settings(sample=SampleSection(mask=["/(/"])))


def judgement(question_id, score, metric="correctness"):
    same = {"system": "s", "judge": "j", "status": "scored", "scale": (0, 1), "model": "none"}
    return ragstone.Judgement(**same, question_id=question_id, metric=metric, score=score, prompt_version=1)


def test_judgements_give_the_quality_by_the_rows_ids(says):
    rows = [judgement("1", 0.9), judgement("2", 0.4), judgement("3", 0.2), judgement("3", 1.0, "other")]
    sample = sampled(by="quality", judgements=rows, quality="correctness")
    assert [one.metadata["quality"] for one in sample.questions] == [0.3, 0.9]
    assert sampled(by="quality", judgements=rows).questions[0].metadata["quality"] == 0.5  # (0.4 + 0.6) / 2
    with pytest.raises(DataError) as error:
        sampled(judgements=rows, quality="wrong")
    says(error.value)


def test_judgements_find_rows_without_an_id_as_the_answers_that_were_judged(tmp_path):
    rows = [{"question": "What does a loan cost?", "answer": f"{n} %."} for n in (4, 5)]
    path = tmp_path / "log.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    names = [answer.question_id for answer in read_rows(path, ragstone.Answer)]
    judged = [judgement(name, score) for name, score in zip(names, (0.1, 0.3), strict=True)]
    assert sampled(path, by="quality", judgements=judged).questions[0].metadata["quality"] == 0.2


def test_only_the_first_rows_are_read_with_a_limit():
    assert sampled(limit=1).summary.log.n_rows == 1


def test_an_embedder_groups_and_is_closed(monkeypatch):
    import numpy as np

    closed = []

    class Embedding:
        def __call__(self, texts, role):
            return np.array([[1, 0] if "loan" in text else [0, 1] for text in texts], dtype=np.float32)

        def close(self):
            closed.append(True)

    monkeypatch.setattr("ragstone.features.sample.sampling.open_embedder", lambda *_: Embedding())
    log = [{"q": f"What does a {who} loan cost?"} for who in ("home", "farm", "car")]
    log += [{"q": f"When is {crop} sown?"} for crop in ("maize", "wheat", "rice")]
    sample = sampled(log, by="topic", topics=2, embedder="packaged", count=2)
    assert len({one.tags["topic"] for one in sample.questions}) == 2
    assert closed == [True]


def test_the_same_log_and_seed_give_the_same_sample():
    first, second = sampled(by="random", count=1), sampled(by="random", count=1)
    assert msgspec.json.encode(first) == msgspec.json.encode(second)
    assert first.questions[0].metadata["weight"] == first.questions[0].metadata["asked"] * 2


def test_a_log_that_changes_between_readings_is_an_error(tmp_path, monkeypatch, says):
    monkeypatch.setattr("ragstone.features.sample.sampling.exchanges_at", lambda *_: {})
    with pytest.raises(DataError) as error:
        sampled()
    says(error.value)
