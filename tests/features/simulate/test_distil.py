"""Personas of a log: kinds of users found, personal data masked, likeness said only where it is shown."""

import json

import msgspec
import numpy as np
import pytest
from tests.support.command import ragstone
from tests.support.scripts import Body, fenced, nonce_in, prompt_of, schema_in
from tests.support.surfaces import shown

from ragstone.features.simulate._persona import load_personas
from ragstone.features.simulate._traits import energy_distance, kinds_of, spelling_of, traits_of
from ragstone.features.simulate.distil import distil_personas, forecast_distilling, write_personas
from ragstone.features.simulate.words import personas_document
from ragstone.kernel.errors import ConfigError, DataError

CROPS = [
    "maize", "wheat", "beans", "rice", "sorghum", "millet", "barley", "cotton", "potato", "tomato",
    "cassava", "onion",
]  # fmt: skip
DEEDS = ["water", "sow", "harvest", "store", "weed", "feed", "spray", "prune"]


def log_of(n=120, seed=0, kinds=3):
    """Return a log of three kinds of users: terse, polite and asking on."""
    rng, rows = np.random.default_rng(seed), []
    for number in range(n):
        crop, deed = rng.choice(CROPS), rng.choice(DEEDS)
        turns = (
            [f"when must i {deed} {crop}"],
            [
                f"Hello, could you please tell me how I should {deed} my {crop} in the coming season, since "
                "my field lies on a slope?",
                "Thank you very much!",
            ],
            [f"How do I {deed} {crop}?", "And how often?", "Why is that so?", "What does it cost?"],
        )[number % kinds]
        rows += [{"question": turn, "conversation_id": f"c{number}"} for turn in turns]
    return rows


def speaker(*, follows):
    """Return a script: a model that plays users, by their style or always in the same way."""

    def script(body: Body) -> str:
        fields, prompt = (schema_in(body) or {}).get("properties", {}), prompt_of(body)
        said = {"nonce": nonce_in(body), "thought": "So it is."}
        if "name" in fields:
            return msgspec.json.encode(said | {"name": "Busy #1 user."}).decode()
        persona = fenced("persona", prompt)
        message = f"What should one know of {persona.split()[-1]} number {len(persona)}?"
        if follows and "small letter" in persona:
            message = f"when must i {len(persona)} it"
        elif follows and "greets" in persona:
            message = f"Hello, could you please tell me how I should do the {len(persona)} things this year?"
        return msgspec.json.encode(said | {"goal_met": False, "message": message}).decode()

    return script


def test_kinds_of_users_are_found_and_described(says):
    found = distil_personas(log_of())
    says([(persona.name, persona.style, persona.language) for persona in found.personas])
    assert all(persona.share.low <= 1 / 3 <= persona.share.high for persona in found.personas)
    assert found.n_other == 0


def test_users_of_one_kind_are_one_persona():
    assert len(distil_personas(log_of(kinds=1)).personas) == 1


def test_users_of_a_rare_language_are_of_no_persona():
    spanish = {"question": "¿Cuándo debo regar las plantas de maíz en el campo de mi familia?"}
    assert distil_personas([*log_of(), spanish]).n_other == 1


def test_count_is_the_number_of_kinds():
    assert len(distil_personas(log_of(), count=2).personas) == 2


@pytest.mark.parametrize("count", [0, -1])
def test_no_number_of_kinds_is_an_error(count, says):
    with pytest.raises(ConfigError) as caught:
        distil_personas(log_of(), count=count)
    says(caught.value)


def test_the_shares_of_two_languages_of_odd_numbers_are_a_whole():
    texts = ("How do I water maize {} in my big field?", "¿Cómo puedo regar el maíz {} de mi campo grande?")
    log = [{"question": text.format(n)} for text in texts for n in range(21)]
    assert sum(persona.share.value for persona in distil_personas(log).personas) == 1


def test_each_language_has_its_own_personas():
    spanish = [
        {"question": f"¿Cuándo debo regar las plantas de {crop} en el campo de mi familia?"}
        for crop in CROPS * 4
    ]
    found = distil_personas([*log_of(), *spanish])
    assert {persona.language for persona in found.personas} == {"en", "es"}


def test_personal_data_is_masked_in_all_that_is_written(tmp_path):
    rows = [{**row, "question": f"{row['question']} Write to anna.kern@example.org"} for row in log_of()]
    found = distil_personas(rows)
    text = write_personas(found, tmp_path / "personas.toml").read_text(encoding="utf-8")
    assert "anna" not in text
    assert "[email" in text
    assert found.masked["email"] > 0


def test_what_is_written_is_read_as_users_and_holds_the_conversations(tmp_path):
    users = load_personas(write_personas(distil_personas(log_of()), tmp_path / "personas.toml"))
    assert len(users) == 9
    asking_on = [user for user in users if len(user.script or []) == 4]
    assert len(asking_on) == 3
    assert all(user.tags["persona"] in user.name for user in users)


def test_a_model_that_follows_the_style_is_said_to_be_closer(fake_openai, says):
    fake_openai.script = speaker(follows=True)
    found = distil_personas(log_of(), model=fake_openai.model, settings=fake_openai.settings())
    closer = {persona.style: persona.likeness.closer for persona in found.personas}
    # It follows two of the styles; the third it writes as any other.
    assert all(
        is_closer == ("small letter" in style or "greets" in style) for style, is_closer in closer.items()
    )
    assert all(persona.name.startswith("busy 1 user") for persona in found.personas)
    assert all(not persona.scripts for persona in found.personas)
    says(shown(personas_document(found)))


def test_a_model_that_ignores_the_style_is_not(fake_openai, says):
    fake_openai.script = speaker(follows=False)
    found = distil_personas(log_of(), model=fake_openai.model, settings=fake_openai.settings())
    assert not any(persona.likeness.closer for persona in found.personas)
    says(shown(personas_document(found)))


def test_failed_calls_are_no_likeness(fake_openai, says):
    follows = speaker(follows=True)
    fake_openai.script = lambda body: follows(body) if "name" in str(schema_in(body)) else "no JSON"
    found = distil_personas(log_of(), model=fake_openai.model, settings=fake_openai.settings())
    assert [persona.likeness for persona in found.personas] == [None] * 3
    says(shown(personas_document(found)))


@pytest.mark.long
def test_a_forecast_counts_the_calls(fake_openai, tmp_path):
    settings = fake_openai.settings(root=tmp_path)
    forecast = forecast_distilling(log_of(), settings, count=None, model=fake_openai.model, seed=0)
    fake_openai.script = speaker(follows=True)
    found = distil_personas(log_of(), model=fake_openai.model, settings=settings)
    assert forecast.calls == found.calls.made


def test_one_letter_from_a_frequent_word_is_a_mistake_and_another_ending_is_none():
    spelling = spelling_of([["maize " * 9, "water " * 9], ["maiz", "watre", "maizes", "mazie"]])
    words = ("maiez", "mazie", "watre", "waters", "maize", "sow", "wader")
    assert [spelling.is_mistake(word) for word in words] == [True, True, True, False, False, False, True]


def test_traits_of_a_conversation_by_hand():
    # Two turns of 2 and 5 words: one begins small, one has no mark at its end, one is polite.
    [traits] = traits_of([["sow maize", "Please tell me more now."]], spelling_of([]))
    expected = [(np.log(3) + np.log(6)) / 2, np.log(2), 0.5, 0.5, 0.5, 0]
    assert traits.tolist() == pytest.approx(expected)


def test_energy_distance_by_hand():
    # Points 0 and 2 against 1: between 1, among the first (0+2+2+0)/4 = 1, among the second 0: 2 - 1 = 1.
    assert energy_distance(np.array([[0.0], [2.0]]), np.array([[1.0]])) == pytest.approx(1.0)
    assert energy_distance(np.array([[0.0], [2.0]]), np.array([[0.0], [2.0]])) == pytest.approx(0.0)


@pytest.mark.long
def test_noise_has_one_kind():
    rng = np.random.default_rng(1)
    assert [len(kinds_of(rng.normal(size=(120, 6)), None, seed).centres) for seed in range(2)] == [1, 1]


@pytest.mark.parametrize("rows", [log_of(19), [{"question": "thanks"}] * 99, []])
def test_a_short_log_is_an_error(rows, says):
    with pytest.raises(DataError) as caught:
        distil_personas(rows)
    says(caught.value)


def test_more_kinds_than_the_log_can_fill_are_an_error(says):
    with pytest.raises(DataError) as caught:
        distil_personas(log_of(42), count=12)
    says(caught.value)


def test_command_writes_the_personas_and_shows_them(folder, says):
    (folder / "log.jsonl").write_text("".join(json.dumps(row) + "\n" for row in log_of()), encoding="utf-8")
    ran = ragstone("simulate", "log.jsonl", "-o", "personas.toml")
    assert ran.code == 0, ran.err
    says(ran.out)
    assert len(load_personas(folder / "personas.toml")) == 9
    again = ragstone("simulate", "log.jsonl", "-o", "personas.toml", "--json", "--force")
    assert len(json.loads(again.out)["personas"]) == 3


@pytest.mark.parametrize(
    "arguments", [("none.jsonl",), ("log.jsonl", "-o", "log.jsonl"), ("log.jsonl", "-o", "old.toml")]
)
def test_what_cannot_be_is_said_before_anything_is_written(folder, arguments, says):
    (folder / "log.jsonl").write_text("".join(json.dumps(row) + "\n" for row in log_of(60)), encoding="utf-8")
    (folder / "old.toml").write_text("mine", encoding="utf-8")
    ran = ragstone("simulate", *arguments)
    assert ran.code == 2
    says(ran.err)
    assert (folder / "old.toml").read_text(encoding="utf-8") == "mine"
