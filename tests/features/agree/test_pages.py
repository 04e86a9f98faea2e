"""The report cards of a project in the workbench."""

import msgspec
from tests.support.judged_runs import write_run
from tests.support.served_project import client, project
from tests.support.tiny_run import JUDGEMENTS, card, summary_of

__all__ = ["client", "project"]  # its fixtures


def test_report_cards_are_those_of_runs_and_of_files_each_once(project, client):
    known = card(better=False)
    folder = write_run(project / "runs" / "a", JUDGEMENTS)
    summary = msgspec.structs.replace(summary_of(JUDGEMENTS), cards=[known])
    (folder / "summary.json").write_bytes(msgspec.json.encode(summary))
    (project / "cards.json").write_bytes(
        msgspec.json.encode([known, card(better=True, judge="faithfulness")])
    )
    (project / "other.json").write_text('{"no": "cards"}')
    page = client.get("/workbench/cards").text
    assert page.count("data-row>") == 2
    assert "no better than its baseline" in page
    address = page.split('href="/workbench/cards/')[1].split('"')[0]
    one = client.get(f"/workbench/cards/{address}").text
    assert "What the card says in words." in one
    assert "Agreement of correctness" in one
    assert "no better than its baseline" in client.get("/workbench/judges").text
    assert client.get("/workbench/cards/gone").status_code == 404
