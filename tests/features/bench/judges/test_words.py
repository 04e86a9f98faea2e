import msgspec
import pytest
from tests.support.judged_cells import board_of, cell, judged, spent
from tests.support.label_rows import label
from tests.support.surfaces import page_text, plots_in, shown

from ragstone.features.bench._board import LeftOutCell
from ragstone.features.bench._detection import AT_THRESHOLD
from ragstone.features.bench.judges._choice import choose
from ragstone.features.bench.judges.board import make_board
from ragstone.features.bench.judges.planning import JudgeGrid
from ragstone.features.bench.judges.words import (
    JudgeBenchSummary,
    contrast_where,
    difference,
    in_one_line,
    judge_bench_document,
    measure_name,
    ordered_by,
    read_judge_bench,
    recommendation,
)
from ragstone.kernel.config import JudgesBench
from ragstone.kernel.document.html import render_page
from ragstone.kernel.document.markdown import render_markdown
from ragstone.kernel.errors import DataError

HUMAN = [0, 1] * 40


def shifted(n):
    return [1 - value if at < n else value for at, value in enumerate(HUMAN)]


def bench(words="judge", *, cells=None, repeats=2):
    """Return a bench with a dear and a cheap model, with and without examples, and two baselines."""
    dear, cheap = {"base": words, "model": "openai/dear"}, {"base": words, "model": "openai/cheap"}
    cells = cells or [
        judged(cell(f"{words} · dear", **dear), shifted(2), shifted(3), took=spent(10.0, 9.0)),
        judged(
            cell(f"{words}@shots=2 · cheap", shots=2, **cheap), shifted(3), shifted(3), took=spent(1.0, 2.0)
        ),
        judged(cell(f"{words} · cheap", **cheap), shifted(30), shifted(30), took=spent(0.5, 1.0)),
        judged(cell("containment", model="none", added=True), shifted(25)),
        judged(cell("token_f1", model="none", added=True), [0.2, 0.7] * 40),
    ]
    board = msgspec.structs.replace(
        board_of(HUMAN, *cells), failed=[LeftOutCell(name=words, reason=words)], notes=[words]
    )
    return JudgeBenchSummary(
        name=words,
        version="0.1.0",
        counts={"answers": 80, "labels": 80},
        models={words: words},
        board=board,
        choice=choose(board) if board.standings else None,
        repeats=repeats,
        list_prices={},
        notes=[words],
    )


def test_page_says_what_to_take_and_answers_the_three_questions(says):
    says(render_markdown(judge_bench_document(bench())))


def test_charts_stand_beside_a_table_with_the_same_numbers(says):
    summary = bench()
    document = judge_bench_document(summary)
    plot = plots_in(document)["price-cost"]
    figure = plot.figure
    assert len(figure.points) == len(summary.board.standings)
    free = next(point for point in figure.points if point.name == "containment")
    assert all(point.x > free.x for point in figure.points if "judge" in point.name)
    says(plot.title)
    assert plot.title in page_text(document)


def test_without_prices_there_is_no_chart_and_the_page_says_unknown(says):
    cells = [judged(cell("a"), shifted(2), took=spent(None, None)), judged(cell("b"), shifted(3))]
    assert "unknown" in page_text(judge_bench_document(bench(cells=cells)))
    none = bench(cells=[judged(cell("containment", model="none"), shifted(2))])
    assert "<figure>" not in render_page(judge_bench_document(none))
    says("\n".join(recommendation(none)))


def test_repeats_are_shown_with_their_spread():
    spread = bench().board.standings[0].spread
    assert (spread.values, spread.changed.value) == ([78 / 80, 77 / 80], 1 / 80)
    assert spread.sd == pytest.approx((1 / 80) / 2**0.5)
    assert "Unchanged" not in page_text(judge_bench_document(bench(cells=[judged(cell("a"), HUMAN)])))


def test_terminal_shows_the_same_in_100_columns():
    text = shown(judge_bench_document(bench()))
    for said in ("= best?", "Does the judge fit the model?", "Unchanged", "not ranked", "USD/1000"):
        assert said in text
    assert "10.0 times cheaper" in text
    shown(judge_bench_document(bench("a judge of many words " * 6)))


def test_no_judge_that_is_better_than_the_baseline_is_said(says):
    cells = [judged(cell("a"), shifted(6)), judged(cell("containment", model="none", added=True), shifted(5))]
    said = recommendation(bench(cells=cells))
    says("\n".join(said))
    worse = [judged(cell("a"), shifted(40)), judged(cell("containment", model="none", added=True), HUMAN)]
    said = recommendation(bench(cells=worse))
    says("\n".join(said))


def test_more_labels_are_not_promised_where_the_interval_lies_below_the_baseline(says):
    others = [judged(cell(f"o{at}", model="none", added=True), shifted(60 + at)) for at in range(3)]
    lead = [judged(cell("a"), shifted(7)), judged(cell("containment", model="none", added=True), HUMAN)]
    made = bench(cells=[*lead, *others])
    assert made.choice.beats_baseline == "cannot tell"  # by Holm's correction over all comparisons
    says(recommendation(made)[-1])


def test_where_all_stand_aside_nothing_is_recommended(says):
    aside = bench(cells=[judged(cell("a", scale=(0, 100)), [50.0] * 80)])
    assert aside.choice is None
    [nothing] = recommendation(aside)
    assert nothing in shown(judge_bench_document(aside))
    says(render_markdown(judge_bench_document(aside)))


def test_contrast_says_what_is_the_same_in_both():
    contrasts = bench().choice.contrasts
    assert {contrast_where(one) for one in contrasts if one.axis == "model"} == {"judge"}
    assert {contrast_where(one) for one in contrasts if one.axis == "shots"} == {"judge by cheap"}


def test_those_with_the_same_reason_are_told_as_one():
    apart = [
        LeftOutCell(name="a", reason="gone"),
        LeftOutCell(name="b", reason="other"),
        LeftOutCell(name="c", reason="gone"),
    ]
    assert [one.name for one in in_one_line(apart)] == ["a; c", "b"]


def test_numbers_are_read_back(tmp_path):
    summary = bench()
    (tmp_path / "bench.json").write_bytes(msgspec.json.encode(summary))
    assert read_judge_bench(tmp_path) == summary
    with pytest.raises(DataError, match="ragstone bench judges"):
        read_judge_bench(tmp_path / "nowhere")


def test_difference_of_percentages_is_called_so(says):
    human = [float(value) for value in range(0, 100, 5)] * 4
    percentage = judged(cell("a", scale=(0, 100)), [value + 2 for value in human])
    board = board_of(human, percentage)
    says(measure_name(board))
    says(ordered_by(board))
    mapped = board_of(human, percentage, mapping={"0": 0.0, "100": 1.0})
    says(measure_name(mapped))
    says(ordered_by(mapped))
    assert mapped.standings[0].value.value == pytest.approx(0.02)


def of_support(metric="faithfulness", **keys):
    """Return a bench of 8 answers, 4 unsupported: `yes_no` calls 3 so, 2 of these are; `wide` is 10 to 80."""
    human = [0, 0, 0, 0, 1, 1, 1, 1]
    cells = [
        judged(cell("yes_no"), [0, 0, 1, 1, 0, 1, 1, 1]),
        judged(cell("wide", scale=(0, 100), threshold=keys.get("threshold")), range(10, 90, 10)),
    ]
    for each in cells:
        each.runs[0][:] = [msgspec.structs.replace(row, metric=metric) for row in each.runs[0]]
    return bench_of(board_of(human, *cells, metric=metric))


def bench_of(board):
    return msgspec.structs.replace(bench(), board=board, choice=choose(board))


def test_judges_of_support_have_f1_of_what_is_unsupported_beside_auroc(says):
    summary = of_support(threshold=50)
    rows = {row.cell.name: row.agreement for row in summary.board.standings if row.file}
    # Found 2 of 4 unsupported, of 3 called so: 2 * 2 / (4 + 3). From 50 on `wide` is people's grade exactly.
    assert rows["yes_no"]["F1 (unsupported)"].value == pytest.approx(4 / 7)
    assert rows["yes_no"]["precision (unsupported)"].value == pytest.approx(2 / 3)
    assert rows["yes_no"]["recall (unsupported)"].value == 0.5
    assert rows["wide"]["F1 (unsupported)"].value == 1.0
    assert rows["wide"]["ROC AUC"].value == 1.0
    says(shown(judge_bench_document(summary)))
    assert AT_THRESHOLD in page_text(judge_bench_document(summary))


def test_without_a_threshold_a_wide_scale_has_no_f1():
    board = of_support().board
    wide = next(each for each in [*board.standings, *board.aside] if each.cell.name == "wide")
    assert "ROC AUC" in wide.agreement
    assert "F1 (unsupported)" not in wide.agreement


def test_judges_of_anything_else_have_no_f1_and_nothing_is_said_of_one():
    summary = of_support("correctness", threshold=50)
    assert not any("unsupported" in name for row in summary.board.standings for name in row.agreement)
    assert AT_THRESHOLD not in page_text(judge_bench_document(summary))


def test_systems_have_no_order_by_numbers_of_labels():
    human = [1, 6, 3, 4] * 4
    levels = judged(cell("question_type", scale=(1, 6)), human)
    people = [label(f"q{at // 2}", score, system=f"s{at % 2}") for at, score in enumerate(human)]
    for at, row in enumerate(levels.runs[0]):
        levels.runs[0][at] = msgspec.structs.replace(row, question_id=f"q{at // 2}", system=f"s{at % 2}")

    def labelled(name):
        rows = [msgspec.structs.replace(row, label=name) for row in levels.runs[0]]
        each = msgspec.structs.replace(levels, runs=[rows])
        grid = JudgeGrid(metric="correctness", cells=[levels.cell], left_out=[], judges={})
        return make_board([each], [], people, grid, JudgesBench(), resamples=200)

    assert labelled("create").orders is None
    assert labelled("create").notes == []
    assert labelled(None).orders is not None


def test_judges_that_err_on_other_answers_are_not_equally_near_on_every_answer(says):
    first, last = shifted(8), [*HUMAN[:-8], *(1 - value for value in HUMAN[-8:])]
    for other in (first, last):
        board = board_of(HUMAN, judged(cell("a"), first), judged(cell("b"), other))
        says(difference(board.comparisons[0]))


def test_a_tie_of_judges_has_no_best(says):
    """Three that differ in nothing, then one that is a bit higher than another: neither is the best."""
    same = [judged(cell(name), shifted(8)) for name in ("a", "b")]
    same = bench_of(board_of(HUMAN, *same, metric="correctness"))
    near = bench_of(board_of(HUMAN, judged(cell("a"), shifted(7)), judged(cell("b"), shifted(8))))
    apart = bench_of(board_of(HUMAN, judged(cell("a"), HUMAN), judged(cell("b"), shifted(40))))
    for summary in (same, near, apart):
        says(" ".join(recommendation(summary)[:2]))
        rows = [line.split() for line in shown(judge_bench_document(summary)).splitlines()]
        marks = {row[1]: row[2] for row in rows if row[:2] in (["1", "a"], ["2", "b"])}
        says(str(marks))
