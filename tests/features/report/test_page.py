import json
import re
from collections import Counter
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.support.golden import check_golden
from tests.support.tiny_run import (
    JUDGEMENTS,
    QUESTIONS,
    WriteRun,
    card,
    judgement,
    summary_of,
)

from ragstone.features.report.page import write_report
from ragstone.kernel.errors import DataError
from ragstone.kernel.records import Answer, Context, Document, Judgement, Question, Verdict
from ragstone.kernel.runs.summary import RunSummary

EVIL = (
    "<script>window.pwned=1</script>",
    '"><img src=x onerror="window.pwned=1">',
    "</script><script>window.pwned=1</script><!--",
    "<!--<script>",
    "javascript:window.pwned=1",
    "{{ 7*7 }}\u2028\u2029&amp;'`",
)


class Page(HTMLParser):
    """What a browser would make of the page: its elements, their attributes and its embedded JSON."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: Counter[str] = Counter()
        self.attributes: list[tuple[str, str | None]] = []
        self.scripts: dict[str, str] = {}
        self.text = ""
        self._script: str | None = None
        self.feed(html)
        self.text = " ".join(self.text.split())

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags[tag] += 1
        self.attributes += attrs
        self._script = dict(attrs).get("id") or "code" if tag in ("script", "style") else None

    def handle_endtag(self, tag: str) -> None:
        self._script = None

    def handle_data(self, data: str) -> None:
        if self._script is None:
            self.text += data + " "
        else:
            self.scripts[self._script] = data

    def embedded(self, name: str) -> Any:  # noqa: ANN401
        return json.loads(self.scripts[name])


def read(folder: Path) -> str:
    return write_report(folder).read_text(encoding="utf-8")


def without_style_and_script(html: str) -> str:
    """Leave out what template/ holds already, and the digests of it."""
    html = re.sub(r"<style>.*?</style>", "<style></style>", html, flags=re.DOTALL)
    html = re.sub(r"<script>.*?</script>", "<script></script>", html, flags=re.DOTALL)
    return re.sub(r"sha256-[^&']+", "sha256-", without_libraries(html))


def without_libraries(html: str) -> str:
    """Leave out what draws the charts, which is not ours; see test_charts for its digests."""
    library = r'(<script type="text/plain" data-library>).*?(</script>)'
    return re.sub(library, r"\1a library\2", html, flags=re.DOTALL)


def test_page_of_a_tiny_run_is_as_it_was(write_run: WriteRun) -> None:
    check_golden("report/page.html", without_style_and_script(read(write_run())))


def test_same_run_gives_the_same_bytes(write_run: WriteRun) -> None:
    folder = write_run()
    assert read(folder) == read(folder)
    assert sorted(path.name for path in folder.glob("report*")) == ["report.html"]


def test_page_names_nothing_outside_itself(write_run: WriteRun) -> None:
    html = without_libraries(read(write_run()))
    page = Page(html)
    links = [value or "" for name, value in page.attributes if name in ("href", "src", "action", "data")]
    drawings = "data:image/svg+xml;charset=utf-8,"  # a plot to download
    assert all(link.startswith(("#", drawings)) or link == "data:," for link in links), links
    assert "@import" not in html
    assert "url(" not in html
    policy = dict(page.attributes)["content"] and re.search(
        r'http-equiv="Content-Security-Policy" content="([^"]*)"', html
    )
    assert policy
    assert policy[1].startswith("default-src &#39;none&#39;;")
    assert policy[1].count("sha256-") == 2  # the style and our script: no library draws a report's charts
    assert "unsafe" not in policy[1]


def evil_everywhere(text: str) -> dict[str, object]:
    """Return rows and summary with one text in every field that can hold it."""
    question = Question(
        id=text, question=text, reference=[text, "x" + text], document_ids=[text], tags={text: text}
    )
    context = Context(text=text, id=text, document_id=text)
    answer = Answer(question_id=text, system=text, answer=text, contexts=[context], error=text)
    verdict = Verdict(id=1, statement=text, supported=False, reason=text)
    rows: list[Judgement] = [
        judgement(
            text,
            text,
            0,
            metric=text,
            model=text,
            system=text,
            rationale=text,
            label=text,
            verdicts=[verdict],
            error=text,
        )
    ]
    summary = msgspec.structs.replace(
        summary_of(rows), name=text, version=text, models={text: text}, counts={text: 1}, notes=[text]
    )
    return {
        "documents": [Document(id=text, title=text, text=text)],
        "questions": [question],
        "rankings": None,
        "answers": [answer],
        "judgements": rows,
        "summary": summary,
    }


@pytest.mark.parametrize("text", EVIL)
def test_text_from_outside_never_becomes_markup(write_run: WriteRun, text: str) -> None:
    harmless, evil = (
        Page(read(write_run(**evil_everywhere("harmless")))),
        Page(read(write_run(**evil_everywhere(text)))),
    )
    assert evil.tags - Counter({"code": 99}) == harmless.tags - Counter(
        {"code": 99}
    )  # backticks set a command
    assert not [name for name, _ in evil.attributes if name.startswith("on")]
    assert evil.embedded("details-0")[0]["answers"][0]["answer"] == text
    assert evil.embedded("index")["lines"][0]["question"] == text


def test_embedded_json_holds_no_character_that_ends_a_script(write_run: WriteRun) -> None:
    html = read(write_run(**evil_everywhere("</script>\u2028\u2029&")))
    blocks = re.findall(r'<script type="application/json"[^>]*>(.*?)</script>', html, flags=re.DOTALL)
    assert len(blocks) == 4  # words, index, details, passages
    assert not [block for block in blocks if re.search("[<>&\u2028\u2029]", block)]


@pytest.mark.parametrize("missing", ["documents", "questions", "rankings", "answers"])
def test_any_other_file_of_rows_may_be_missing(write_run: WriteRun, missing: str) -> None:
    page = Page(read(write_run(**{missing: None})))
    lines = page.embedded("index")["lines"]
    assert {line["id"] for line in lines} == {"q1", "q2", "q3", "q4 & 5"}


def test_an_answer_sheet_alone_carries_its_questions(write_run: WriteRun) -> None:
    sheet = [Answer(question_id="q1", answer="yes", system="rag", question="Is it?", reference="no")]
    rows = [judgement("q1", "correctness", 0)]
    nothing = dict.fromkeys(("documents", "questions", "rankings"))
    page = Page(read(write_run(answers=sheet, judgements=rows, summary=summary_of(rows), **nothing)))
    assert page.embedded("index")["lines"] == [
        {"id": "q1", "cells": [0.0], "question": "Is it?", "preview": "yes"}
    ]
    assert page.embedded("details-0")[0]["references"] == ["no"]


def test_run_without_summary_says_what_to_do(write_run: WriteRun, says) -> None:
    with pytest.raises(DataError) as error:
        write_report(write_run(summary=None))
    says(error.value)


def test_run_without_judgements_says_what_to_do(write_run: WriteRun, says) -> None:
    with pytest.raises(DataError) as error:
        write_report(write_run(judgements=None))
    says(error.value)


def test_missing_folder_is_named(tmp_path: Path, says) -> None:
    with pytest.raises(DataError) as error:
        write_report(tmp_path / "absent")
    says(error.value)


def test_summary_of_another_run_is_refused(write_run: WriteRun, says) -> None:
    with pytest.raises(DataError) as error:
        write_report(write_run(judgements=JUDGEMENTS[1:]))
    says(error.value)


def test_summary_that_is_no_summary_is_refused(write_run: WriteRun, says) -> None:
    folder = write_run()
    (folder / "summary.json").write_text('{"name": 3, "counts": {}, "metrics": []}')
    with pytest.raises(DataError) as error:
        write_report(folder)
    says(error.value)


def test_manifest_that_is_no_json_is_refused(write_run: WriteRun, says) -> None:
    folder = write_run()
    (folder / "manifest.json").write_text("{")
    with pytest.raises(DataError) as error:
        write_report(folder)
    says(error.value)


def test_judge_that_scored_nothing_has_no_mean(write_run: WriteRun) -> None:
    rows = [judgement(question.id, "correctness", None, status="refused") for question in QUESTIONS]
    text = Page(read(write_run(judgements=rows, summary=summary_of(rows)))).text
    assert "no score 0 scored of 4 rows; 4 refused" in text
    assert "none 0 scored of 4 rows; 4 refused" in text


def test_unknown_cost_is_said_to_be_unknown(write_run: WriteRun, summary: RunSummary) -> None:
    assert "cost unknown: ragstone.toml has no price for a model or system" in Page(read(write_run())).text
    paid = msgspec.structs.replace(summary.calls, cost_usd=0.0123)
    text = Page(read(write_run(summary=msgspec.structs.replace(summary, calls=paid)))).text
    assert "cost 0.0123 USD" in text


def test_without_labels_the_judge_is_said_to_be_unmeasured(write_run: WriteRun) -> None:
    text = Page(read(write_run())).text
    assert "Not measured. There are no labels by people." in text
    assert "ragstone agree RUN labels.jsonl" in text


def test_report_card_shows_its_agreement_beside_its_baseline(
    write_run: WriteRun, summary: RunSummary
) -> None:
    text = Page(read(write_run(summary=msgspec.structs.replace(summary, cards=[card(better=True)])))).text
    for words in (
        "correctness: kappa with people −0.10 95 % interval −0.30 to 0.10",
        "40 labelled answers; exact agreement 0.75; always right 0.70",
        "Rests on 40 labelled answers; without a score of the judge: 2 timed out; "
        "3 judged answers without a label; 1 on which annotators tied.",
        "kappa −0.100 −0.30 to 0.10",
        "always right always the same 0.70 0.55 to 0.82 0.75 +0.05 −0.10 to +0.20 the judge is better 40",
        "wrong right wrong 4 8 right 2 26",
    ):
        assert words in text
    assert "†" not in text


@pytest.mark.parametrize(
    ("better", "words"),
    [(False, "no better than its baseline"), (None, "not shown to be better than its baseline")],
)
def test_judge_without_worth_is_named_as_such_beside_every_score(
    write_run: WriteRun, summary: RunSummary, better: bool | None, words: str
) -> None:
    page = Page(read(write_run(summary=msgspec.structs.replace(summary, cards=[card(better=better)]))))
    headline = {
        False: "containment calls no language model: it is a baseline, not a verdict.",  # it leads instead
        None: "which is not shown to be better than its baseline here: do not rely on it alone.",
    }
    assert headline[better] in page.text
    assert f"exact agreement 0.75 (0.60 to 0.86) † {words}" in page.text  # the table
    cautions = [column.get("caution") for column in page.embedded("index")["columns"]]
    assert cautions == [words, None, None]  # each question


def test_report_reads_no_labels_and_leaves_the_run_as_it_was(write_run: WriteRun) -> None:
    folder = write_run()
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    write_report(folder)
    after = {path.name: path.read_bytes() for path in folder.iterdir() if path.name != "report.html"}
    assert before == after
