"""Blame as the report and the terminal show it."""

import msgspec
import pytest
from tests.support.blamed_rows import CAUSES, SYSTEM, share
from tests.support.surfaces import shown

from ragstone.features.blame.words import ASKED_AGAIN, blame_document, outcome, share_range, share_told, worth
from ragstone.features.report._findings import findings
from ragstone.features.report.page import write_report
from ragstone.kernel.errors import DataError
from ragstone.kernel.runs.blamed import BlameSummary, digests, read_blame, read_causes


@pytest.fixture
def blamed_run(write_run):
    """A run folder with blame of its rows."""
    folder = write_run()
    summary = BlameSummary(
        name="r",
        version="1",
        systems=[SYSTEM],
        models={},
        made_from=digests(folder),
        notes=["A `note` on it."],
    )
    (folder / "blame.json").write_bytes(msgspec.json.encode(summary))
    (folder / "causes.jsonl").write_bytes(b"".join(msgspec.json.encode(row) + b"\n" for row in CAUSES))
    return folder


def test_the_report_tells_shares_causes_and_what_they_rest_on(blamed_run):
    page = write_report(blamed_run).read_text(encoding="utf-8")
    for said in (
        "Where the lost points went",
        "12 of 50 points lost. Most are due to the retriever (9), then to the model + prompt (2)",
        "Given the right documents, 8 of the 11 lost points that were asked again come back.",
        "not measured",
        "Left out: 3 answers (2 timed out, 1 not judged).",
        'href="#q-q%3C1%3E"',
        "and 2 more: filter the questions by this cause",
        "A <code>note</code> on it.",
    ):
        assert said in page
    assert "<script>alert(1)" not in page


def test_a_page_says_how_points_are_assigned_only_as_they_were(blamed_run):
    asked, not_asked = "what the model answers when given", "no model was asked again"
    page = write_report(blamed_run).read_text(encoding="utf-8")
    assert asked not in page
    assert not_asked in page
    summary = msgspec.structs.replace(read_blame(blamed_run), models={ASKED_AGAIN: "openai/any"})
    (blamed_run / "blame.json").write_bytes(msgspec.json.encode(summary))
    page = write_report(blamed_run).read_text(encoding="utf-8")
    assert asked in page
    assert not_asked not in page


def test_blame_of_other_rows_is_not_shown(blamed_run):
    path = blamed_run / "judgements.jsonl"
    path.write_bytes(path.read_bytes() + b"\n")
    assert read_blame(blamed_run) is None
    assert "Where the lost points went" not in write_report(blamed_run).read_text(encoding="utf-8")


def test_files_that_are_none_of_ours_are_told(blamed_run, says):
    (blamed_run / "causes.jsonl").write_text("{}\n")
    with pytest.raises(DataError) as error:
        read_causes(blamed_run)
    says(error.value)
    (blamed_run / "blame.json").write_text("[]")
    with pytest.raises(DataError) as error:
        read_blame(blamed_run)
    says(error.value)


def test_what_cannot_be_told_is_said_so(says):
    largest = msgspec.structs.replace(SYSTEM.largest, verdict="cannot tell", p_holm=0.4)
    unclear = msgspec.structs.replace(SYSTEM, largest=largest)
    says(outcome(unclear))
    nothing = msgspec.structs.replace(SYSTEM, n_lost=0, largest=None)
    says(outcome(nothing))
    assert worth(msgspec.structs.replace(SYSTEM, returned=None)) == ""


def test_points_that_only_the_second_opinion_takes_are_told_apart(says):
    hidden = msgspec.structs.replace(SYSTEM, n_hidden=3)
    says(outcome(hidden))


def test_shares_are_in_percent_with_their_denominator(says):
    assert share_told(share("retriever", 9)) == "18 %"
    says(share_range(share("retriever", 9)))
    assert (share_told(share("judge", 0, of=0)), share_range(share("judge", 0, of=0))) == (
        "not measured",
        "no second opinion",
    )


def test_the_terminal_shows_some_points_of_each_cause(blamed_run, says):
    said = shown(blame_document(read_blame(blamed_run), CAUSES))
    says(said)
    assert "q<1>: Document" in said
    said = " ".join(shown(blame_document(read_blame(blamed_run), ())).split())
    says(said)
    assert "points)" not in said


def test_the_first_screen_names_the_component_with_the_most_lost_points(summary, says):
    blamed = BlameSummary(name="run", version="0", systems=[SYSTEM], models={}, made_from={}, notes=[])
    found = findings(summary, blamed)[1]
    # 9 of the 12 lost points are the retriever's. The interval is of its share of all 50, which is 18 %.
    says("\n".join(f"{figure.label} | {figure.value} | {figure.interval}" for figure in found.figures))
    assert found.sentences == [outcome(SYSTEM), worth(SYSTEM)]


def test_where_nothing_is_lost_the_first_screen_says_so(summary, says):
    kept = msgspec.structs.replace(
        SYSTEM, n_lost=0, causes={}, shares=[share("judge", 0)], largest=None, returned=None
    )
    blamed = BlameSummary(name="run", version="0", systems=[kept], models={}, made_from={}, notes=[])
    found = findings(summary, blamed)[1]
    assert (found.figures[0].label, found.figures[0].value) == ("points lost", "0")
    says(found.sentences)
