import json
import os
import signal
import subprocess
import sys
import time

import pytest
from tests.support.command import ragstone
from tests.support.fake_openai import running, stats
from tests.support.scripted_facts import facts_writer, write_facts

from ragstone.records import Document, Question
from ragstone.tables import read_rows, write_rows

CROPS = ["Maize", "Wheat", "Barley", "Sorghum", "Millet", "Cotton", "Cassava", "Soybean", "Rice", "Beans"]


def documents(n):
    return [
        Document(
            id=f"d{at}",
            text=f"{CROPS[at % 10]} of the farm in valley {at + 20} is harvested in autumn by group {at}.",
            lang="en",
        )
        for at in range(n)
    ]


@pytest.fixture
def corpus(folder, fake_openai):
    fake_openai.script = write_facts
    (folder / "ragstone.toml").write_text(f'[build]\nmodel = "openai/fake"\n{fake_openai.toml()}')
    write_rows(folder / "d.jsonl", documents(6), Document)
    return folder


def rows(path):
    return list(read_rows(path, Question))


def test_facts_and_all_that_belongs_to_them_are_written_to_a_folder_of_their_own(corpus):
    ran = ragstone("build", "facts", "d.jsonl", "--falsify", "number,negation", "--test-share", 0.5)
    assert ran.code == 0
    assert "6 true and 6 false statements in facts/facts.jsonl" in ran.err
    assert {path.name for path in (corpus / "facts").iterdir()} == {
        "facts.jsonl",
        "facts.all.jsonl",
        "facts.dev.jsonl",
        "facts.test.jsonl",
        "certificate.json",
        "certificate.html",
    }
    assert len(rows("facts/facts.jsonl")) == 12
    assert len(rows("facts/facts.dev.jsonl")) == len(rows("facts/facts.test.jsonl")) == 6


def test_the_summary_as_json_is_the_certificate(corpus):
    summary = json.loads(ragstone("build", "facts", "d.jsonl", "--limit", 2, "--json").out)
    assert summary["certificate"]["kind"] == "facts"
    assert summary["certificate"]["funnel"]["n_accepted"] == 2
    assert summary["calls"]["made"] == 2


def test_a_second_build_needs_force_and_no_call(corpus, fake_openai):
    assert ragstone("build", "facts", "d.jsonl").code == 0
    before = (corpus / "facts" / "facts.jsonl").read_bytes()
    again = ragstone("build", "facts", "d.jsonl")
    assert again.code == 2
    assert "facts/facts.jsonl exists and was not touched" in again.err
    assert ragstone("build", "facts", "d.jsonl", "--force", "--offline").code == 0
    assert (corpus / "facts" / "facts.jsonl").read_bytes() == before
    assert fake_openai.n_requests == 6


def test_a_forecast_makes_no_call_and_no_file(corpus, fake_openai):
    ran = ragstone("build", "facts", "d.jsonl", "--forecast", "--falsify", "entity")
    assert ran.code == 0
    assert "about 18 calls" in ran.out
    assert fake_openai.n_requests == 0
    assert not (corpus / "facts").exists()


def test_a_shortfall_is_told_and_ends_with_5_under_strict(corpus):
    told = ragstone("build", "facts", "d.jsonl", "--count", 8)
    assert told.code == 0
    assert "2 short" in told.out
    assert ragstone("build", "facts", "d.jsonl", "--count", 8, "--force", "--strict").code == 5
    assert ragstone("build", "facts", "d.jsonl", "--count", 6, "--force", "--strict").code == 0


@pytest.mark.parametrize(
    ("script", "n_rows"), [(facts_writer(prose=1.0), 0), (facts_writer(twins=1.0), 6)], ids=["prose", "twins"]
)
def test_a_model_that_cannot_write_leaves_a_certificate_that_says_so(corpus, fake_openai, script, n_rows):
    fake_openai.script = script
    ran = ragstone("build", "facts", "d.jsonl", "--strict")
    assert ran.code == 5
    assert (corpus / "facts" / "certificate.json").exists()
    assert len((corpus / "facts" / "facts.all.jsonl").read_text().splitlines()) == n_rows


def test_the_budget_ends_with_4_and_what_there_is(corpus):
    ran = ragstone("build", "facts", "d.jsonl", "--budget", "2calls")
    assert ran.code == 4
    assert len(rows("facts/facts.jsonl")) == 2
    assert ragstone("build", "facts", "d.jsonl", "--force").code == 0
    assert len(rows("facts/facts.jsonl")) == 6


def test_the_seed_decides_which_documents_are_asked(corpus):
    chosen = set()
    for seed in range(4):
        ragstone("build", "facts", "d.jsonl", "--count", 3, "--seed", seed, "-o", f"{seed}/facts.jsonl")
        chosen.add(tuple(row.document_ids[0] for row in rows(f"{seed}/facts.jsonl")))
    assert len(chosen) > 1


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["none.jsonl"], "none.jsonl"),
        (["questions.jsonl"], "questions.jsonl"),
        (["empty.jsonl"], "empty.jsonl"),
        (["d.jsonl", "--falsify", "numbers"], "unknown change 'numbers'. Did you mean 'number'?"),
        (["d.jsonl", "--count", "0"], "greater than or equal to 1"),
        (["d.jsonl", "--test-share", "2"], "less than or equal to 1"),
        (["d.jsonl", "-o", "other/facts.jsonl"], "is the certificate of another build"),
        (["d.jsonl", "-o", "facts.txt"], "cannot tell the format"),
        (["d.jsonl", "--model", "nobody"], "unknown model 'nobody'"),
        (["d.jsonl", "--budget", "much"], "much"),
    ],
)
def test_mistakes_are_told_in_a_sentence_with_code_2_and_no_call(corpus, fake_openai, arguments, told):
    write_rows("questions.jsonl", [Question(id="q", question="Why?")], Question)
    (corpus / "empty.jsonl").touch()
    (corpus / "other").mkdir()
    (corpus / "other" / "certificate.json").touch()
    ran = ragstone("build", "facts", *arguments)
    assert ran.code == 2
    assert told in ran.err
    assert "Traceback" not in ran.err
    assert fake_openai.n_requests == 0
    assert not list(corpus.glob("facts/*"))


def test_without_a_model_that_is_said(corpus, fake_openai):
    (corpus / "ragstone.toml").write_text(fake_openai.toml())
    ran = ragstone("build", "facts", "d.jsonl")
    assert ran.code == 2
    assert "Name one with --model" in ran.err


def test_documents_without_text_give_an_empty_set_that_says_so(corpus):
    write_rows("blank.jsonl", [Document(id="a", text=""), Document(id="b", text=" \n ")], Document)
    ran = ragstone("build", "facts", "blank.jsonl", "--strict")
    assert ran.code == 5
    assert (corpus / "facts" / "facts.jsonl").read_bytes() == b""
    assert "0 true and 0 false statements" in ran.err


COMMAND = ["build", "facts", "d.jsonl", "--falsify", "entity,negation"]
N_DOCUMENTS = 60


def make_project(folder, base_url):
    (folder / ".ragstone").mkdir(parents=True)
    (folder / ".ragstone" / "secret").write_text("00" * 32)
    write_rows(folder / "d.jsonl", documents(N_DOCUMENTS), Document)
    (folder / "ragstone.toml").write_text(
        '[build]\nmodel = "openai/fake"\n'
        f'[models."openai/fake"]\nbase_url = "{base_url}"\nmax_concurrency = 4\n'
    )


def wait_for_requests(base_url, n_requests):
    for _ in range(3000):
        if stats(base_url)["n_requests"] >= n_requests:
            return
        time.sleep(0.02)
    raise AssertionError(f"the endpoint saw {stats(base_url)}")


@pytest.mark.kill
def test_killed_and_run_again_no_finished_call_is_repeated_and_the_files_are_the_same(tmp_path, monkeypatch):
    faults = ("--latency", "0.02", "--rate-limited", "0.03", "--retry-after", "0.05")
    with running(*faults, "--script", "tests.support.scripted_facts:faulty") as base_url:
        killed, quiet = tmp_path / "killed", tmp_path / "quiet"
        for folder in (killed, quiet):
            make_project(folder, base_url)
            with (folder / "ragstone.toml").open("a") as file:
                file.write("[ledger]\nkeep_failures = true\n")  # else replies of no use are asked for anew
        command = [sys.executable, "-m", "ragstone", *COMMAND]
        first = subprocess.Popen(command, cwd=killed, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        wait_for_requests(base_url, N_DOCUMENTS + 30)  # in the midst of the false statements
        os.kill(first.pid, signal.SIGKILL)
        first.wait(30)
        assert not list((killed / "facts").iterdir())
        monkeypatch.chdir(killed)
        assert ragstone(*COMMAND).code == 0
        # What was in flight when it was killed, or on its way to the disk, is asked again: 4 calls of each.
        assert stats(base_url)["n_asked_again"] <= 8
        n_answered = stats(base_url)["n_answered"]
        assert ragstone(*COMMAND, "-o", "again/facts.jsonl").code == 0
        assert stats(base_url)["n_answered"] == n_answered
        monkeypatch.chdir(quiet)
        assert ragstone(*COMMAND).code == 0
    for name in ("facts.jsonl", "facts.all.jsonl", "certificate.json", "certificate.html"):
        content = (killed / "facts" / name).read_bytes()
        assert (killed / "again" / name).read_bytes() == content
        assert (quiet / "facts" / name).read_bytes() == content, name
