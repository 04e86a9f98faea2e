import msgspec
import pytest
from tests.support.answer_rows import board_of, cell, grid_of, judged, questions_of
from tests.support.golden import check_golden
from tests.support.surfaces import page_text, plots_in, shown

from ragstone.features.bench._board import LeftOutCell
from ragstone.features.bench.answerers._sentences import bests, contrast_text, kinds_text, role_text
from ragstone.features.bench.answerers.words import (
    AnswerBenchSummary,
    answer_bench_document,
    priced_condition,
    read_answer_bench,
)
from ragstone.kernel.document.markdown import render_markdown
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


def test_page_says_what_is_best_and_what_the_conditions_tell(says):
    summary = bench()
    # 16 of 20 right: mean 80 of 100; 12 questions apart from the poor one.
    best, second = summary.board.standings[:2]
    assert (best.score.mean.value, second.comparison.difference.value) == (80.0, 60.0)
    # 16 right from what was retrieved, 2 by itself: (16 - 2) / 20 of 100.
    [passages] = [each for each in summary.board.contrasts if each.kind == "passages"]
    assert (passages.test.means, passages.test.difference.value) == ((80.0, 10.0), 70.0)
    text = render_markdown(answer_bench_document(summary))
    assert "asked 20 questions" not in text  # nobody was left out
    says(text)


def test_tables_hold_distributions_and_shares():
    # poor · retrieved: 12 of 20 answered; faithful 4 x 1 + 8 x 0.5 of 12 = 67 %; of all 8 / 20 = 40 %.
    measures = bench().board.standings[1].measures
    assert measures["answered"].value == 12 / 20
    assert measures["faithful"].value == pytest.approx(8 / 12)
    assert measures["answered × faithful"].value == pytest.approx(8 / 20)
    text = page_text(answer_bench_document(bench()))
    for share in ("60 %", "67 %", "40 %", "By crop", "12 questions"):
        assert share in text


def test_charts_hold_every_cell_that_has_the_numbers():
    summary = bench()
    board = summary.board
    plots = plots_in(answer_bench_document(summary))
    # Under `none` there is nothing to be faithful to.
    assert len(plots["trade-unanswered"].figure.points) == 4
    # Prices are drawn for what an application would do.
    assert [point.place for point in plots["trade-time"].figure.points] == [1, 2]
    assert priced_condition(board) == "retrieved"
    gold = msgspec.structs.replace(board, standings=board.standings[2:])
    assert priced_condition(gold) == "gold"
    for usd in (None, 0.0):
        spent = [msgspec.structs.replace(row.spent, cost_usd=usd) for row in board.standings]
        rows = [
            msgspec.structs.replace(row, spent=each) for row, each in zip(board.standings, spent, strict=True)
        ]
        without = msgspec.structs.replace(board, standings=rows)
        document = answer_bench_document(msgspec.structs.replace(summary, board=without))
        assert "trade-cost" not in plots_in(document)


def test_the_order_within_a_condition_is_drawn_with_how_far_it_depends_on_the_questions(says):
    document = answer_bench_document(bench())
    ranks = {name: plot for name, plot in plots_in(document).items() if name.startswith("ranks")}
    assert len(ranks) == len(bench().board.ranks)
    says("\n\n".join(f"{plot.title}: {' '.join(plot.said)}" for plot in ranks.values()))


def test_of_a_race_no_rank_is_drawn_because_those_behind_were_asked_less():
    summary = bench()
    first, *others = summary.board.standings
    board = msgspec.structs.replace(
        summary.board, standings=[first, *others[:-1], msgspec.structs.replace(others[-1], verdict="stopped")]
    )
    stopped = msgspec.structs.replace(summary, board=board)
    assert not [name for name in plots_in(answer_bench_document(stopped)) if name.startswith("ranks")]


def test_difference_that_is_none_on_every_question_is_said_so(says):
    rows = {"r": rows_of("r", 10), "g": rows_of("g", 10)}
    grid = grid_of(cell("r", condition="retrieved"), cell("g"))
    [one] = board_of(rows, grid=grid).contrasts
    says(contrast_text(one))


def test_differences_that_cancel_out_are_not_said_to_be_the_same_on_every_question(says):
    # All questions are of one document, so nothing has an interval; ten others are right in each.
    halves = {"r": [100] * 10 + [0] * 10, "g": [0] * 10 + [100] * 10}
    rows = {name: judged(name, correct=correct) for name, correct in halves.items()}
    grid = grid_of(cell("r", condition="retrieved"), cell("g"))
    asked = [msgspec.structs.replace(row, document_ids=["d"]) for row in questions_of(20)]
    [one] = board_of(rows, grid=grid, questions=asked).contrasts
    assert (one.test.difference.value, one.test.difference.low, one.test.n_changed) == (0.0, None, 20)
    says(contrast_text(one))


def test_difference_the_other_way_is_told_with_its_sign_turned(says):
    rows = {"r": rows_of("r", 18), "g": rows_of("g", 2)}
    grid = grid_of(cell("r", condition="retrieved"), cell("g"))
    [one] = board_of(rows, grid=grid).contrasts
    said = contrast_text(one)
    says(said)
    low, _, high = said.partition("(")[2].partition(")")[0].partition(" to ")
    assert 0 < float(low) < 80 < float(high)


def test_several_models_are_told_in_one_sentence_a_question(says):
    names = [f"{model} · {each}" for each in ("retrieved", "none") for model in ("a", "b")]
    rows = {name: rows_of(name, 18 if "retrieved" in name else 2) for name in names}
    cells = [
        cell(name, model=name[0], condition=name[4:], prompt="strict" if "retrieved" in name else "closed")
        for name in names
    ]
    board = board_of(rows, grid=grid_of(*cells))
    said = kinds_text(board)
    says(said[-1])
    assert len(bests(board)) == 2


def test_where_all_cells_have_the_same_mean_none_is_said_to_have_the_highest(says):
    names = ["a", "b", "c"]
    rows = {name: rows_of(name, 0) for name in names}
    same = board_of(rows, condition="none")
    # Of 20 answers none is right, in each of the three cells; where all scores are one there is no interval.
    [best] = bests(same)
    says(best)
    two = board_of({name: rows[name] for name in "ab"})
    says(bests(two)[0])
    unlike = board_of({**rows, "c": rows_of("c", 1)})
    says(bests(unlike)[0])
    first, second, third = same.standings
    third = msgspec.structs.replace(third, score=None)
    said = bests(msgspec.structs.replace(same, standings=[first, second, third]))
    says(said[0])


def test_the_cells_that_share_the_highest_mean_are_named_together(says):
    board = board_of({name: rows_of(name, n) for name, n in (("a", 18), ("b", 18), ("c", 2))})
    says(bests(board)[0])


def test_a_mean_of_few_scores_and_one_that_comes_second_may_be_higher_and_that_is_said(says):
    board = board_of({name: rows_of(name, n) for name, n in (("a", 18), ("b", 10), ("c", 2))})
    first, second, third = board.standings
    few = msgspec.structs.replace(third, verdict="too few scores", score=second.score)
    lower = msgspec.structs.replace(few, score=first.score)
    for last in (few, lower):
        says(bests(msgspec.structs.replace(board, standings=[first, second, last]))[0])
    says(bests(msgspec.structs.replace(board, standings=[second, first, third]))[0])


def test_a_cell_that_stopped_early_does_not_hide_behind_the_highest_mean(says):
    board = board_of({name: rows_of(name, n) for name, n in (("a", 18), ("b", 10), ("c", 2))})
    first, second, third = board.standings
    ahead = msgspec.structs.replace(third, verdict="stopped", score=first.score)
    behind = msgspec.structs.replace(third, verdict="stopped")
    for last in (ahead, behind):
        says(bests(msgspec.structs.replace(board, standings=[second, last]))[0])
    # The models of a condition may all have stopped under the one that was raced.
    says(bests(msgspec.structs.replace(board, standings=[ahead, behind]))[0])


def test_judges_are_said_with_what_they_are_worth(says):
    summary = bench()
    roles = {role.role: role_text(role) for role in summary.board.roles}
    says(roles["correct"])
    says(roles["answered"])


def test_terminal_holds_long_names_in_100_columns():
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
