import msgspec
import pytest

from ragstone.kernel.config import ChatSystem, ModelSettings, RagSystem, Settings
from ragstone.kernel.config.sections import AnswerSection
from ragstone.kernel.records import Answer, name_repeat
from ragstone.kernel.stages.answer_notes import COLD, is_cold, same_answer_notes


def test_answers_that_are_the_same_each_time_are_counted(says):
    def told(*texts, **answer):
        rows = [
            Answer(question_id=f"q{at}", system=name_repeat("rag", number), answer=text)
            for at, own in enumerate(texts)
            for number, text in enumerate(own, 1)
        ]
        return same_answer_notes(rows, Settings(answer=AnswerSection(**answer)))

    assert told(("a", "b"), ("c", "d")) == told(("a",), ("c",)) == []
    [note] = told(("a", "a"), ("c", "d"), ("e",))
    says(note)
    # Advice on the temperature only where a model is asked at 0.
    for answer, cold in (
        ({"model": "openai/m", "repeats": 2}, True),
        ({"model": "openai/m", "repeats": 2, "temperature": 0.7}, False),
        ({"system": "app:reply", "repeats": 2}, False),
        ({"sheet": "sheet.jsonl"}, False),
    ):
        assert (COLD in told(("a", "a"), **answer)[0]) is cold


@pytest.mark.parametrize(
    ("system", "models", "cold"),
    [
        (None, {}, True),  # the built-in application's default is 0
        (None, {"openai/m": ModelSettings(temperature=0.5)}, False),
        (RagSystem(temperature=0.5), {}, False),
        (RagSystem(), {}, True),
        (ChatSystem(model="openai/m"), {}, False),  # the provider's own, which nobody knows
        (ChatSystem(model="openai/m", temperature=0.0), {}, True),
        (ChatSystem(model="openai/m"), {"openai/m": ModelSettings(temperature=0.0)}, True),
    ],
)
def test_a_model_at_temperature_0_is_known_before_it_is_asked(system, models, cold):
    answer = AnswerSection(model="openai/m", repeats=3, system=None if system is None else "mine")
    settings = Settings(answer=answer, models=models, systems={} if system is None else {"mine": system})
    assert is_cold(settings) is cold
    assert not is_cold(msgspec.structs.replace(settings, answer=AnswerSection(model="openai/m")))
