import io
import re

import msgspec
import pytest
from rich.cells import cell_len
from rich.console import Console
from tests.report.test_page import EVIL, Page, without_style_and_script

from ragstone.config import ChunkSection
from ragstone.errors import DataError
from ragstone.experiments.answers import Answered, accuracy_verdicts, answering_cost, wrong_answers
from ragstone.experiments.cut import measure_cut
from ragstone.experiments.grid import Configuration
from ragstone.experiments.languages import ALL, OWN, language_cells, language_verdicts
from ragstone.experiments.leaderboard import Failed, Measured, Timing, make_leaderboard
from ragstone.records import Answer, Context, Question, Ranking, RankingItem
from ragstone.report import (
    BenchSummary,
    Calls,
    StudySummary,
    read_leaderboard,
    terminal_leaderboard,
    terminal_study,
)
from ragstone.report.bench_page import draw, render_leaderboard
from ragstone.report.bench_words import seconds
from ragstone.report.study import FailedRetriever
from ragstone.report.study_page import render_study

SAME = {f"{lang}{n}": f"en{n}" for lang in ("en", "es") for n in range(30)}
LANG_OF = {f"{lang}{n}": lang for lang in ("en", "es") for n in range(30)}


def questions(words="What is it?"):
    return [
        Question(
            id=f"{lang}-q{n}",
            question=words,
            reference="42",
            document_ids=[f"{lang}{n}"],
            lang=lang,
            tags={"crop": "maize" if n % 2 else "wheat"},
        )
        for lang in ("en", "es")
        for n in range(30)
    ]


def rankings(n_found, asked):
    return [
        Ranking(
            question_id=question.id,
            retriever="r",
            items=[RankingItem(document_id=question.document_ids[0] if at < n_found else "other", score=1.0)],
        )
        for at, question in enumerate(asked)
    ]


def bench(words="What is it?", *, name="bm25", n_cells=3):
    asked = questions(words)
    cells = [
        Measured(
            configuration=Configuration(name=f"{name}{at}", chunker=ChunkSection(), retriever="bm25"),
            by_k={k: measure_cut(rankings(60 - 20 * at, asked), asked, k, {}, {}) for k in (1, 2)},
            rankings=rankings(60 - 20 * at, asked),
            timing=Timing(
                index_s=0.5,
                n_embedded=0,
                n_cached=7,
                p50_s=0.002 * 10**at,
                p95_s=0.004 * 10**at,
                n_timed=20,
                questions_per_s=None if at else 5000.0,
            ),
            file="rankings-01.jsonl",
        )
        for at in range(n_cells)
    ]
    down = Failed(
        configuration=Configuration(name="down", chunker=ChunkSection(), retriever="dense"), reason=words
    )
    board = make_leaderboard(cells, [down], asked, "recall", why="of the test")
    return BenchSummary(
        name=words,
        version="0.1.0",
        counts={"documents": 60, "questions": 60},
        models={"embedder": "packaged"},
        leaderboard=board,
        texts={"other": words, "en0": "Wheat"},
        calls=Calls(),
        notes=[words],
    )


def study(words="What is it?"):
    asked = questions(words)
    indexes = {index: rankings(n, asked) for index, n in (("en", 30), ("es", 60), (ALL, 60))}
    by_id = {question.id: question for question in asked}
    answered = [
        Answered(
            retriever="r",
            index=index,
            answers=[
                Answer(
                    question_id=q.id,
                    system=index,
                    answer=words,
                    contexts=[Context(text="", document_id=q.document_ids[0])],
                )
                for q in asked
            ],
            right={q.id: at >= n_wrong for at, q in enumerate(asked)},
        )
        for index, n_wrong in ((OWN, 3), (ALL, 1))
    ]
    wrong = [row for one in answered for row in wrong_answers(one, by_id, SAME, LANG_OF)]
    return StudySummary(
        name=words,
        version="0.1.0",
        langs=["en", "es"],
        k=5,
        documents={"en": 30, "es": 30},
        questions={"en": 30, "es": 30},
        models={"answer": "openai/fake"},
        cells=language_cells("r", indexes, asked, 5, SAME, LANG_OF),
        verdicts=language_verdicts({"r": indexes}, asked, 5, SAME),
        failed=[FailedRetriever(retriever="down", reason=words)],
        accuracy=accuracy_verdicts(answered, asked, SAME),
        costs=[answering_cost(one, by_id) for one in answered],
        wrong=wrong,
        n_wrong=len(wrong),
        unanswered=None,
        calls=Calls(made=3),
        notes=[words],
    )


def shown(renderable, width=100):
    console = Console(file=io.StringIO(), width=width, color_system=None)
    console.print(renderable)
    return console.file.getvalue()


PAGES = {
    "leaderboard": lambda words: render_leaderboard(bench(words)),
    "study": lambda words: render_study(study(words)),
}


def check_asks_for_nothing(html):
    """Check that a page names nothing outside itself and runs no script."""
    found = Page(html)
    links = [value for name, value in found.attributes if name in ("href", "src")]
    assert all(value.startswith(("#", "data:")) for value in links)
    assert found.tags["script"] == found.tags["img"] == found.tags["form"] == 0
    [policy] = [value for name, value in found.attributes if name == "content" and "default-src" in value]
    assert policy.startswith("default-src 'none'; style-src 'sha256-")
    assert "script-src" not in policy
    assert not re.search(r"https?://", without_style_and_script(html))
    assert not any(name == "style" for name, _ in found.attributes)


def check_stays_text(render, text):
    """Check that a text from outside adds no markup to a page. render: such a text -> the page."""
    plain, hostile = Page(render("harmless")), Page(render(text))
    for found in (plain, hostile):
        found.tags.pop("code", None)  # what stands between backticks in a note
    assert hostile.tags == plain.tags
    assert not any(name.startswith("on") for name, _ in hostile.attributes)


@pytest.mark.parametrize("page", PAGES)
def test_page_names_nothing_outside_itself_and_runs_no_script(page):
    check_asks_for_nothing(PAGES[page]("What is it?"))


@pytest.mark.parametrize("text", EVIL)
@pytest.mark.parametrize("page", PAGES)
def test_text_from_outside_never_becomes_markup(page, text):
    check_stays_text(PAGES[page], text)


def test_leaderboard_shows_verdicts_intervals_other_k_failures_and_what_came_first_instead():
    text = Page(render_leaderboard(bench())).text
    assert "bm250 has the highest recall@1, and every other configuration is worse." in text
    assert "Holm's correction over 3 comparisons" in text
    assert "The first 2 results" in text
    assert "down : What is it?" in text
    assert "nothing found" not in text
    assert "other What is it?" in text
    assert "the relevant document" in text
    assert "By crop" in text
    assert "By language" in text


def test_chart_is_beside_a_table_with_the_same_numbers_and_grows_to_the_right_with_time():
    summary = bench()
    dots = draw(summary).dots
    assert [dot.place for dot in dots] == [1, 2, 3]
    # 2, 20 and 200 ms are equally far apart on a logarithmic scale.
    assert dots[1].x - dots[0].x == pytest.approx(dots[2].x - dots[1].x, abs=0.2)
    assert dots[0].y < dots[1].y < dots[2].y  # upwards is better, and y counts downwards
    assert all(dot.high <= dot.y <= dot.low for dot in dots)
    assert [tick.label for tick in draw(summary).x_ticks] == ["1 ms", "10 ms", "100 ms", "1 s"]
    text = Page(render_leaderboard(summary)).text
    assert "2.0 ms 4.0 ms 5,000 500 ms (7 vectors from the store)" in text
    assert "as the model allows" in text


@pytest.mark.parametrize("n_cells", [1, 2])
def test_leaderboard_of_few_configurations_can_be_drawn(n_cells):
    assert len(draw(bench(n_cells=n_cells)).dots) == n_cells
    assert "bm250" in render_leaderboard(bench(n_cells=n_cells))


def test_terminal_shows_the_leaderboard_in_100_columns_and_three_questions():
    text = shown(terminal_leaderboard(bench("Which of the many crops " * 9, name="recursive 600 · hybrid ")))
    assert max(cell_len(line) for line in text.splitlines()) <= 100
    assert text.count("…") == 3
    assert re.search(r"Where they differ most: \S+ \(place of the relevant document\)", text)
    assert re.search(r"\d\.\d\d \((absent|\d)\)", text)
    assert "= best?" in text
    assert "worse" in text
    assert "down was not measured" in text


def test_study_shows_both_answers_matrices_and_wrong_answers():
    text = Page(render_study(study())).text
    # From the own index 30 of 30 English and all Spanish questions are found, as from that of all.
    assert "Does adding translations of the documents improve retrieval? r: with all languages" in text
    assert "not distinguishable (1.00, own language alone 1.00; 60 questions)" in text
    assert "right answers" in text
    assert "the right document was given" in text
    assert "All 4." in text
    assert "down was not measured" in text
    assert "r: recall@1" in text


def test_study_without_a_model_says_so():
    alone = msgspec.structs.replace(
        study(), accuracy=[], costs=[], wrong=[], n_wrong=0, unanswered="No model answered: name one."
    )
    assert "No model answered: name one." in Page(render_study(alone)).text
    assert "No model answered: name one." in shown(terminal_study(alone))


def test_terminal_shows_the_study_in_100_columns():
    text = shown(terminal_study(study()))
    assert max(cell_len(line) for line in text.splitlines()) <= 100
    assert "all languages" in text
    assert "4 wrong answers, in wrong_answers.jsonl." in text
    assert "60 answers, cost unknown" in text


def test_times_have_two_digits_and_a_unit():
    assert [seconds(value) for value in (0.00035, 0.0042, 0.042, 1.42, 42.4)] == [
        "0.35 ms",
        "4.2 ms",
        "42 ms",
        "1.4 s",
        "42 s",
    ]


def test_folder_without_a_leaderboard_says_what_to_do(tmp_path):
    with pytest.raises(DataError, match="Run `ragstone bench retrievers` to the end"):
        read_leaderboard(tmp_path)
    (tmp_path / "leaderboard.json").write_text("{}")
    with pytest.raises(DataError, match="not a leaderboard that this version"):
        read_leaderboard(tmp_path)
