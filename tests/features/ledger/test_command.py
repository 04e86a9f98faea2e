"""`ragstone ledger`, as a user types it."""

import json
from pathlib import Path

import pytest
from tests.support.command import TO_FILE, ragstone
from tests.support.golden import sentence_in
from tests.support.ledgers import JAN_10, Kept, make_ledger, responses_in

from ragstone.features.ledger import command

NANO = "openai/nano"
LEDGER = Path(".ragstone") / "ledger.sqlite"
PRICED = '[models."openai/nano"]\nprice_usd_per_million = { input = 1, output = 4, cached = 0.5 }\n'


@pytest.fixture
def kept(folder: Path) -> Path:
    """The path of a ledger: 2,000 tokens in and 500 out, which cost 0.004 USD, and a hit on half of them."""
    (folder / "ragstone.toml").write_text(PRICED)
    used = (1000, 250, 0)
    return make_ledger(LEDGER, [Kept(NANO, JAN_10, used), Kept(NANO, JAN_10 + 1, used)], hits=[0])


def test_it_shows_what_was_spent_and_saved_by_model_and_day(kept):
    ran = ragstone("ledger")
    assert ran.code == 0
    assert ran.out.startswith(".ragstone/ledger.sqlite: 2 responses, ")
    rows = [line.split() for line in ran.out.splitlines()]
    assert ["openai/nano", "2", "2,000", "0", "500", "0.0040", "1", "0.0020"] in rows
    assert ["2026-01-10", "1", "1,000", "0", "250", "0.0020", "0", "0.00"] in rows
    assert ["2026-01-11", "1", "1,000", "0", "250", "0.0020", "0", "0.00"] in rows
    assert ragstone("ledger", "show") == ran


def test_a_run_from_the_ledger_shows_as_saved(project):
    sheet = ("judge", "answers.jsonl", "--judge", "relevance", "--model", "openai/fake", "--force", *TO_FILE)
    ragstone(*sheet)
    ragstone(*sheet)
    account = json.loads(ragstone("ledger", "--json").out)
    (model,) = account["models"]
    assert model["made"]["calls"] == model["hits"]["calls"] == 6
    assert model["made"]["input"] == model["hits"]["input"] > 0
    assert (model["spent_usd"], model["saved_usd"]) == (None, None)
    assert account["unpriced"] == [model["model"]]
    assert "Price unknown: openai/fake@127.0.0.1" in ragstone("ledger").out
    (project / "ragstone.toml").write_text(PRICED.replace("nano", "fake"))
    assert json.loads(ragstone("ledger", "show", "--json").out)["total"]["saved_usd"] > 0


def test_only_the_last_days_are_shown_but_all_are_in_the_json(says, folder):
    make_ledger(LEDGER, [Kept(NANO, JAN_10 + n) for n in range(20)])
    ran = ragstone("ledger")
    assert "2026-01-15" not in ran.out
    assert "2026-01-16" in ran.out
    says(ran.out)
    assert len(json.loads(ragstone("ledger", "--json").out)["days"]) == 20


def test_calls_without_token_counts_are_said(folder, says):
    make_ledger(LEDGER, [Kept(NANO, usage=(0, 0, 0))], hits=[0])
    says(sentence_in(ragstone("ledger").out, "no token counts"))


@pytest.mark.parametrize("words", [(), ("show",), ("export", "out.jsonl"), ("prune", "--older-than", "1d")])
def test_a_missing_ledger_is_said_plainly(says, folder, words):
    ran = ragstone("ledger", *words)
    assert (ran.code, ran.out) == (2, "")
    says(ran.err)
    assert list(folder.iterdir()) == []


def test_config_decides_which_ledger(kept, folder, monkeypatch):
    (folder / "elsewhere").mkdir()
    monkeypatch.chdir(folder / "elsewhere")
    assert "2 responses" in ragstone("ledger", "--config", "../ragstone.toml").out
    assert ragstone("ledger", "export", "out.jsonl", "--config", "../ragstone.toml").code == 0
    assert len(Path("out.jsonl").read_text().splitlines()) == 2


def test_an_option_that_would_be_passed_over_is_refused(says, kept):
    ran = ragstone("ledger", "--config", "other.toml", "prune", "--model", NANO, "--yes")
    assert ran.code == 2
    says(ran.err)
    assert len(responses_in(kept)) == 2


def test_export_and_import_into_a_new_folder(says, kept, folder, monkeypatch):
    ran = ragstone("ledger", "export", "out.jsonl", "--json")
    assert json.loads(ran.out) == {"file": "out.jsonl", "responses": 2, "damaged": 0}
    says(ran.err)
    assert (ragstone("ledger", "export", "out.jsonl").code, ragstone("ledger", "export", "o.csv").code) == (
        2,
        2,
    )
    assert ragstone("ledger", "export", "out.jsonl", "--force").code == 0
    (folder / "new").mkdir()
    monkeypatch.chdir(folder / "new")
    ran = ragstone("ledger", "import", "../out.jsonl", "../out.jsonl", "--json")
    assert json.loads(ran.out) == {
        "files": [
            {"file": "../out.jsonl", "new": 2, "known": 0},
            {"file": "../out.jsonl", "new": 0, "known": 2},
        ],
        "new": 2,
        "known": 2,
    }
    says(ran.err)


def test_a_bad_file_does_not_keep_the_others_out(kept):
    ragstone("ledger", "export", "good.jsonl")
    ragstone("ledger", "prune", "--model", NANO, "--yes")
    Path("bad.jsonl").write_text("once\nupon\n")
    ran = ragstone("ledger", "import", "bad.jsonl", "good.jsonl", "none.jsonl")
    assert ran.code == 2
    for words in ("bad.jsonl:1: ", "bad.jsonl:2: ", "good.jsonl: 2 new", "none.jsonl: cannot be read"):
        assert words in ran.err
    assert len(responses_in(kept)) == 2


def test_an_export_holds_neither_the_key_nor_the_secret(project, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-very-secret-key")
    ragstone("judge", "answers.jsonl", "--judge", "relevance", "--model", "openai/fake", *TO_FILE)
    ragstone("ledger", "export", "out.jsonl")
    exported = Path("out.jsonl").read_text()
    assert len(exported.splitlines()) == 6
    assert "sk-very-secret-key" not in exported
    assert (project / ".ragstone" / "secret").read_text().strip() not in exported


def test_prune_without_a_terminal_deletes_nothing_unless_told_yes(says, kept):
    ran = ragstone("ledger", "prune", "--older-than", "30d")
    assert (ran.code, len(responses_in(kept))) == (2, 2)
    says(ran.err)
    assert "add --yes" in ran.err
    ran = ragstone("ledger", "prune", "--older-than", "30d", "--yes", "--json")
    assert (ran.code, json.loads(ran.out)["responses"]) == (0, 2)
    assert "Deleted 2 responses" in ran.err
    assert responses_in(kept) == {}


@pytest.mark.parametrize(("said", "n_left"), [("y\n", 0), ("YES\n", 0), ("n\n", 2), ("\n", 2), ("", 2)])
def test_prune_asks_on_a_terminal(kept, monkeypatch, said, n_left):
    monkeypatch.setattr(command, "on_terminal", lambda: True)
    ran = ragstone("ledger", "prune", "--model", NANO, "--json", said=said)
    assert "Delete them?" in ran.err
    assert len(responses_in(kept)) == n_left
    if n_left:
        assert (ran.code, ran.out) == (2, "")
        assert "Nothing was deleted." in ran.err
    else:
        assert (ran.code, json.loads(ran.out)["responses"]) == (0, 2)


def test_prune_says_an_unknown_price_is_unknown(says, folder):
    make_ledger(LEDGER, [Kept("openai/mine@here/v1")])
    says(ragstone("ledger", "prune", "--model", "openai/mine").err)


def test_prune_with_nothing_to_delete_is_done(says, kept):
    ran = ragstone("ledger", "prune", "--older-than", "2000w")
    assert ran.code == 0
    says(ran.err)


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ((), "say what to prune: --older-than 30d, --model NAME, or both"),
        (("--older-than", "30"), "--older-than '30': give a number with a unit, e.g. 30d, 12h or 8w"),
        (("--older-than", "soon"), "give a number with a unit"),
        (("--model", "openai/nan"), "Did you mean 'openai/nano'?"),
    ],
)
def test_wrong_use_of_prune(kept, words, told):
    ran = ragstone("ledger", "prune", "--yes", *words)
    assert ran.code == 2
    assert told in ran.err
    assert len(responses_in(kept)) == 2


@pytest.mark.parametrize(("age", "hours"), [("12h", 12), ("30d", 720), ("8w", 1344), (" 1D ", 24)])
def test_ages_are_in_hours_days_or_weeks(age, hours):
    assert command._seconds(age) == hours * 3600
