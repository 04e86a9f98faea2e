"""The report cards of a project in the workbench."""

import msgspec
from tests.support.golden import sentence_in
from tests.support.judged_runs import write_run
from tests.support.served_project import client, project
from tests.support.tiny_run import JUDGEMENTS, card, summary_of

__all__ = ["client", "project"]  # its fixtures


def test_report_cards_are_those_of_runs_and_of_files_each_once(project, client, says):
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
    says(sentence_in(page, "no better than"))
    address = page.split('href="/workbench/cards/')[1].split('"')[0]
    one = client.get(f"/workbench/cards/{address}").text
    says(sentence_in(one, "What the card"))
    assert "Agreement of correctness" in one
    says(sentence_in(client.get("/workbench/judges").text, "no better than"))
    assert client.get("/workbench/cards/gone").status_code == 404
