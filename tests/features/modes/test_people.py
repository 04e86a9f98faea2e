import json
import re

import pytest
from tests.support.moded_run import RUN, write_moded_run
from tests.support.scripts import fenced, prompt_of

import ragstone
from ragstone.kernel.runs.notes import add_note

NOTES = {
    14: "This is about rice, not maize.",
    15: "Talks of rice paddies.",
    16: "Rice again!",
    30: "Depth is in inches.",
    31: "Should be centimetres.",
    32: "Well said.",
}


@pytest.fixture
def run_folder(folder):
    run = write_moded_run(folder)
    for at, text in NOTES.items():
        add_note(run, f"q{at}", text, author="ann")
    return run


def tell_groups(fake, groups):
    """Let the endpoint group notes: name -> {a part of a note: what it quotes of it}."""

    def script(body):
        prompt = prompt_of(body)
        reply = {"nonce": re.findall(r'The code is "(\w+)"', prompt)[-1]}
        if "notes that people wrote" in prompt:
            listed = re.findall(r"^(\d+)\. (.+)$", fenced("notes", prompt), re.MULTILINE)
            reply["groups"] = [
                {
                    "name": name,
                    "statement": f"The answer has {name}.",
                    "notes": [
                        {"note": int(n), "quote": quote}
                        for part, quote in quotes.items()
                        for n, text in listed
                        if part in text
                    ],
                }
                for name, quotes in groups.items()
            ]
        elif "You read answers" in prompt:
            reply["rows"] = []
        else:
            reply |= {"reason": "as it reads", "verdict": False}
        return json.dumps(reply)

    fake.script = script


def modes_of(folder, fake):
    summary = ragstone.modes(
        folder / RUN, model=fake.model, settings=fake.settings(root=folder), propose=True
    )
    return summary, {mode.name: mode for mode in summary.modes if mode.kind == "boolean"}


@pytest.mark.long
def test_a_model_groups_notes_by_what_they_mean(run_folder, folder, fake_openai):
    groups = {
        "Another crop": {"about rice": "about rice, not", "paddies": "rice paddies", "again": "Rice again"},
        "Wrong unit": {"inches": "in inches", "centimetres": "centimetres"},
    }
    tell_groups(fake_openai, groups)
    summary, modes = modes_of(folder, fake_openai)
    assert [row.question_id for row in modes["another_crop"].evidence] == ["q14", "q15", "q16"]
    assert {row.quote for row in modes["wrong_unit"].evidence} == {NOTES[30], NOTES[31]}
    assert modes["wrong_unit"].question == "The answer has Wrong unit."
    assert len(modes) == 2
    assert (summary.proposal.n_notes, summary.proposal.n_grouped, summary.proposal.n_of_people) == (6, 5, 2)
    again, _ = modes_of(folder, fake_openai)  # their names are known
    assert again.written == []


def test_a_note_is_in_one_group_and_counts_only_with_words_of_its_own(run_folder, folder, fake_openai):
    groups = {
        "Another crop": {"about rice": "about rice", "paddies": "speaks of barley", "again": "Rice again"},
        "Rice": {"about rice": "about rice", "again": "Rice again", "paddies": "rice paddies"},
        "Kind words": {"Well": "well said"},
    }
    tell_groups(fake_openai, groups)
    summary, modes = modes_of(folder, fake_openai)
    assert [row.question_id for row in modes["another_crop"].evidence] == ["q14", "q16"]
    assert set(modes) == {"another_crop"}  # one note alone is no mode
    assert summary.proposal.n_grouped == 2


def test_a_note_joins_the_tag_of_others(run_folder, folder, fake_openai):
    add_note(run_folder, "q33", "Feet?", author="ben", tags=["units"])
    tell_groups(fake_openai, {"Units": {"inches": "in inches"}})
    _, modes = modes_of(folder, fake_openai)
    assert [row.quote for row in modes["units"].evidence] == ["Feet?", NOTES[30]]


def test_where_the_call_fails_notes_are_grouped_by_words(run_folder, folder, fake_openai):
    tell_groups(fake_openai, {})
    script = fake_openai.script
    fake_openai.script = lambda body: "no" if "notes that people wrote" in prompt_of(body) else script(body)
    summary, modes = modes_of(folder, fake_openai)
    assert set(modes) == {"rice"}
    assert (summary.proposal.n_failed, summary.proposal.n_notes) == (1, 0)
