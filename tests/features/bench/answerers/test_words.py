import msgspec
import pytest
from tests.support.answer_rows import board_of, cell, grid_of, judged, questions_of
from tests.support.golden import check_golden
from tests.support.surfaces import page_text, shown

from ragstone.features.bench.answerers.sentences import bests, contrast_text, kinds_text, role_text
from ragstone.features.bench.answerers.words import (
    AnswerBenchSummary,
    answer_bench_document,
    draw_cost,
    draw_time,
    draw_trade,
    priced_condition,
    read_answer_bench,
)
from ragstone.features.bench.board import LeftOutCell
from ragstone.kernel.document.scatter import Point, draw_shares
from ragstone.kernel.errors import DataError


def rows_of(name, n_right, *, n_refused=0, **keys):
    """Return a cell of 20 questions: so many right, then wrong ones, the last refused."""
    answered = [1] * (20 - n_refused) + [0] * n_refused
    faithful = [1 if at < n_right else 0.5 for at in range(20 - n_refused)] + [None] * n_refused
    return judged(
        name,
        correct=[100 if at < n_right else 0 for at in range(20)],
        answered=answered,
        faithful=faithful,
        relevant=answered,
        **keys,
    )


def bench(words="good"):
    """Return a bench of two models under three conditions, one of them far better from gold."""
    cells = {
        f"{words} · retrieved": cell(f"{words} · retrieved", model=words, condition="retrieved"),
        "poor · retrieved": cell("poor · retrieved", model="poor", condition="retrieved"),
        f"{words} · gold": cell(f"{words} · gold", model=words),
        "poor · gold": cell("poor · gold", model="poor"),
        f"{words} · none": cell(f"{words} · none", model=words, prompt="closed_book", condition="none"),
    }
    right = dict(zip(cells, (16, 4, 19, 5, 2), strict=True))
    refused = dict(zip(cells, (0, 8, 0, 2, 12), strict=True))
    rows = {name: rows_of(name, right[name], n_refused=refused[name], seconds=right[name]) for name in cells}
    tags = [{"crop": words if at < 12 else "rice"} for at in range(20)]
    board = board_of(
        rows,
        grid=grid_of(*cells.values()),
        questions=questions_of(20, tags=tags),
        failed=[LeftOutCell(name=words, reason=words)],
    )
    return AnswerBenchSummary(
        name=words,
        version="0.1.0",
        counts={"questions": 20, "answers": 100},
        models={words: words},
        retriever=words,
        k=5,
        n_distractors=3,
        board=board,
        list_prices={},
        notes=[words],
    )


def test_page_says_what_is_best_and_what_the_conditions_tell():
    text = page_text(answer_bench_document(bench()))
    # 16 of 20 right: mean 80 of 100; 12 questions apart from the poor one.
    assert "retrieved: good has the highest correctness 80.0" in text
    assert "the other is worse" in text
    # 16 right from what was retrieved, 2 by itself: (16 - 2) / 20 of 100.
    assert "good with strict: the passages add 70.0" in text
    assert "80.0 from what was retrieved, 10.00 by itself" in text
    assert "What does retrieval lose? No difference is shown." in text
    assert "correctness, 0 to 100" in text
    assert "asked 20 questions" not in text  # nobody was left out
    assert "nothing: closed book" in text


def test_tables_hold_distributions_and_shares():
    text = page_text(answer_bench_document(bench()))
    # poor · retrieved: 12 of 20 answered; faithful 4 x 1 + 8 x 0.5 of 12 = 67 %; of all 8 / 20 = 40 %.
    assert "60 % of 20, 39 to 78 %" in text
    assert "67 %" in text
    assert "40 %" in text
    for head in ("Count Min Mean p50 p90 p95 Max", "Tokens of an answer", "answered × relevant"):
        assert head in text
    assert "By crop" in text
    assert "12 questions" in text


def test_charts_hold_every_cell_that_has_the_numbers():
    board = bench().board
    trade = draw_trade(board)
    # Under `none` there is nothing to be faithful to.
    assert len(trade.dots) == 4
    assert [tick.label for tick in trade.x_ticks] == ["0 %", "20 %", "40 %", "60 %", "80 %", "100 %"]
    # Prices are drawn for what an application would do.
    assert [dot.place for dot in draw_time(board).dots] == [1, 2]
    assert priced_condition(board) == "retrieved"
    gold = msgspec.structs.replace(board, standings=board.standings[2:])
    assert priced_condition(gold) == "gold"
    for usd in (None, 0.0):
        spent = [msgspec.structs.replace(row.spent, cost_usd=usd) for row in board.standings]
        rows = [
            msgspec.structs.replace(row, spent=each) for row, each in zip(board.standings, spent, strict=True)
        ]
        assert draw_cost(msgspec.structs.replace(board, standings=rows)) is None


def test_points_that_stand_on_each_other_are_named_beside_the_first():
    points = [
        Point(place=at, name="x", verdict="best", x=0.5, value=0.5, low=None, high=None)
        for at in range(1, 13)
    ]
    first, *others = draw_shares(points).dots
    assert first.others == "2, 3, 4, 5, 6, 7, 8, 9, …"
    assert all(dot.others == "" for dot in others)


def test_difference_that_is_none_on_every_question_is_said_so():
    rows = {"r": rows_of("r", 10), "g": rows_of("g", 10)}
    grid = grid_of(cell("r", condition="retrieved"), cell("g"))
    [one] = board_of(rows, grid=grid).contrasts
    assert contrast_text(one) == (
        "good with strict: the same on every question; 50.0 from the reference document, 50.0 from what was "
        "retrieved"
    )


def test_difference_the_other_way_is_told_with_its_sign_turned():
    rows = {"r": rows_of("r", 18), "g": rows_of("g", 2)}
    grid = grid_of(cell("r", condition="retrieved"), cell("g"))
    [one] = board_of(rows, grid=grid).contrasts
    said = contrast_text(one)
    assert said.startswith("good with strict: what was retrieved is better by 80.0 (")
    low, _, high = said.partition("(")[2].partition(")")[0].partition(" to ")
    assert 0 < float(low) < 80 < float(high)


def test_several_models_are_told_in_one_sentence_a_question():
    names = [f"{model} · {each}" for each in ("retrieved", "none") for model in ("a", "b")]
    rows = {name: rows_of(name, 18 if "retrieved" in name else 2) for name in names}
    cells = [
        cell(name, model=name[0], condition=name[4:], prompt="strict" if "retrieved" in name else "closed")
        for name in names
    ]
    board = board_of(rows, grid=grid_of(*cells))
    said = kinds_text(board)
    assert said[-1] == (
        "What do the passages add to what the model knows by itself? a with strict: the passages add 80.0; "
        "b with strict: the passages add 80.0."
    )
    assert len(bests(board)) == 2


def test_where_all_cells_have_the_same_mean_none_is_said_to_have_the_highest():
    names = ["a", "b", "c"]
    rows = {name: rows_of(name, 0) for name in names}
    same = board_of(rows, condition="none")
    # Of 20 answers none is right, in each of the three cells; where all scores are one there is no interval.
    assert bests(same) == ["none: all 3 cells have the same correctness 0.00 (no interval)."]
    two = board_of({name: rows[name] for name in "ab"})
    assert bests(two)[0].startswith("gold: both cells have the same correctness 0.00")
    unlike = board_of({**rows, "c": rows_of("c", 1)})
    assert bests(unlike)[0].startswith("gold: c has the highest correctness 5.00")
    first, second, third = same.standings
    third = msgspec.structs.replace(third, score=None)
    said = bests(msgspec.structs.replace(same, standings=[first, second, third]))
    assert said[0].startswith("none: both cells with a score have the same correctness 0.00")


def test_judges_are_said_with_what_they_are_worth():
    summary = bench()
    roles = {role.role: role_text(role) for role in summary.board.roles}
    assert roles["correct"] == "correctness by m, which nobody has measured against people here"
    assert roles["answered"] == "no_refusal (answered), which asks no language model"


def test_terminal_shows_the_same_in_100_columns():
    text = shown(answer_bench_document(bench()))
    for said in ("retrieved", "worse", "× faithful", "What does retrieval lose?", "the passages add 70.0"):
        assert said in text
    shown(answer_bench_document(bench("a model of many words " * 6)))


def test_terminal_is_as_it_was():
    text = "".join(f"{line.rstrip()}\n" for line in shown(answer_bench_document(bench())).splitlines())
    check_golden("report/answerers.txt", text)


def test_numbers_are_read_back(tmp_path):
    summary = bench()
    (tmp_path / "bench.json").write_bytes(msgspec.json.encode(summary))
    assert read_answer_bench(tmp_path) == summary
    with pytest.raises(DataError, match="ragstone bench answerers"):
        read_answer_bench(tmp_path / "nowhere")
