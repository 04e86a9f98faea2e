"""report.md: what a pull request gets to see, and that no text from outside does anything there."""

import msgspec
import pytest
from tests.features.report.test_page import EVIL, evil_everywhere
from tests.support.golden import sentence_in
from tests.support.tiny_run import WriteRun, card, judgement, summary_of

from ragstone.features.report.page import write_markdown
from ragstone.features.report.words import LONGEST_LIST, pull_request_document
from ragstone.features.run._breakdown import rank_systems
from ragstone.kernel.document.markdown import plain
from ragstone.kernel.document.markdown import render_markdown as rendered
from ragstone.kernel.errors import DataError
from ragstone.kernel.runs.blamed import BlameSummary
from ragstone.kernel.runs.causes import ComponentShare, SystemBlame
from ragstone.kernel.runs.summary import RunSummary
from ragstone.kernel.statistics import Estimate

UNSEEN = "\u200b"


def render_markdown(summary: RunSummary, blamed: BlameSummary | None = None) -> str:
    return rendered(pull_request_document(summary, blamed))


def test_it_holds_the_three_answers_the_means_the_retriever_and_the_notes(write_run: WriteRun) -> None:
    text = write_markdown(write_run()).read_text(encoding="utf-8")
    for words in (
        "## Wheat and maize",
        "**Is it right?**",
        "- correctness, 0 to 1: **0.50** (95 % interval 0.09 to 0.91, 2 scored of 4 rows; ",
        "**How far can the judge be trusted?**\n\nNot measured.",
        "| correctness openai/gpt-4o-mini | **0.50** | 0.09 to 0.91 | 2 scored of 4 rows; 1 not applicable",
        f"### Retriever bm25\n\n| Measure | Mean | Interval |\n| --- | ---: | ---: |\n| hit@{UNSEEN}1 |",
        "- 1 answer is missing because the application failed; see <code>app\\_error</code>.",
        "Cost: unknown: ragstone.toml has no price for a model or system.",
    ):
        assert words in text
    assert len(text) < 4000


def test_several_systems_stand_in_order_with_a_verdict(says) -> None:
    rows = [judgement(f"q{n}", "correctness", float(s == "b"), system=s) for n in range(30) for s in "ab"]
    summary = summary_of(rows)
    board = rank_systems(summary.metrics[0], rows)
    text = render_markdown(msgspec.structs.replace(summary, systems=board))
    for begins in ("| 1 | b", "| 2 | a", "its errors may favour"):
        says(sentence_in(text, begins))
    assert "errors may favour" not in render_markdown(summary)  # there is no order


def test_blame_stands_beside_its_counted_questions(summary: RunSummary, says) -> None:
    share = Estimate(value=0.25, low=0.1, high=0.4, n=40, method="wilson")
    shares = [
        ComponentShare(component="retriever", n=10, share=share),
        ComponentShare(component="judge", n=0, share=None),
    ]
    row = SystemBlame(
        system="rag",
        judge="correctness",
        metric="correctness",
        model="m",
        n_counted=40,
        n_lost=10,
        left_out={},
        shares=shares,
        causes={},
    )
    blamed = BlameSummary(name="r", version="0", systems=[row], models={}, made_from={}, notes=[])
    text = render_markdown(summary, blamed)
    says(sentence_in(text, "Of 40 counted"))
    says(sentence_in(text, "| retriever | 10"))
    says(sentence_in(text, "| judge |"))


def test_a_judge_without_worth_is_marked(summary: RunSummary, says) -> None:
    text = render_markdown(msgspec.structs.replace(summary, cards=[card(better=False)]))
    says(sentence_in(text, "| kappa −0.10"))


def test_a_long_list_is_cut_and_says_so(summary: RunSummary, says) -> None:
    notes = [f"Note {n}." for n in range(LONGEST_LIST + 3)]
    text = render_markdown(msgspec.structs.replace(summary, notes=notes))
    says(sentence_in(text, "3 further notes"))
    assert "Note 11." in text
    assert "Note 12." not in text


@pytest.mark.parametrize(
    ("outside", "inside"),
    [
        ("a | b", "a \\| b"),
        ("two\nlines\r\nand\u2028more", "two lines and more"),
        ("@everyone #12", f"@{UNSEEN}everyone #{UNSEEN}12"),
        ("[x](https://evil.example)", f"\\[x\\](https:{UNSEEN}//evil.example)"),
        ("<img src=x>", "&lt;img src=x&gt;"),
        ("&amp;", "&amp;amp;"),
        ("`code` *b* _i_ ~s~ $m$", "\\`code\\` \\*b\\* \\_i\\_ \\~s\\~ \\$m\\$"),
        ("1. item", f"1{UNSEEN}. item"),
        ("- item", f"{UNSEEN}- item"),
        ("0.50", "0.50"),
    ],
)
def test_text_from_outside_is_plain(outside: str, inside: str) -> None:
    assert plain(outside) == inside


@pytest.mark.parametrize("text", EVIL)
def test_no_field_of_a_run_sets_markup(write_run: WriteRun, text: str) -> None:
    rendered = write_markdown(write_run(**evil_everywhere(text))).read_text(encoding="utf-8")
    for tag in ("<script", "<img", "<!--", "</script"):
        assert tag not in rendered


def test_a_folder_without_numbers_says_what_to_do(write_run: WriteRun, says) -> None:
    with pytest.raises(DataError) as error:
        write_markdown(write_run(summary=None))
    says(error.value)
