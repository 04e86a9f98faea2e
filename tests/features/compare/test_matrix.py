"""The matrix of means: which share a table, what changes along, and the axes that can be chosen."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone.features.compare.matrix import MatrixPoint, axes_of, is_crossed, lay_out, matrix_blocks
from ragstone.kernel.document.blocks import Paragraph, Table
from ragstone.kernel.errors import DataError
from ragstone.kernel.statistics import Estimate


def mean(value, name="run", target="", n=10, **of):
    """Return a mean of 10 rows on a scale of 0 to 1."""
    ends = {"low": value - 0.1, "high": value + 0.1} if value is not None else {}
    estimate = Estimate(value=value, n=n, method="wilson", **ends) if ends else None
    return MatrixPoint(
        name=name, of=of, estimate=estimate, n_scored=n, n_rows=10, scale=(0, 1), target=target
    )


def grid(**more):
    return [
        mean(value, prompt=prompt, model=model, **more)
        for prompt, model, value in (
            ("bare", "large", 0.2),
            ("bare", "small", 0.4),
            ("strict", "large", 0.6),
            ("strict", "small", 0.8),
        )
    ]


def values(table):
    return [[[point.estimate.value for point in cell] for cell in row] for row in table.cells]


def test_two_settings_that_cross_are_rows_and_columns():
    matrix = lay_out(grid())
    (table,) = matrix.tables
    assert (matrix.down, matrix.across, matrix.along) == ("prompt", "model", [])
    assert (table.rows, table.columns) == (["bare", "strict"], ["large", "small"])
    assert values(table) == [[[0.2], [0.4]], [[0.6], [0.8]]]
    assert is_crossed(matrix)


def test_prompt_and_model_go_first_and_others_can_be_chosen():
    points = [
        mean(0.5, **{"[retrieve] k": k, "[answer] model": model, "[answer] prompt": prompt})
        for k in ("3", "10")
        for model in "ab"
        for prompt in "cd"
    ]
    assert [*axes_of(points)] == ["[answer] prompt", "[answer] model", "[retrieve] k"]
    first = lay_out(points)
    assert (first.down, first.across, len(first.tables)) == ("[answer] prompt", "[answer] model", 2)
    other = lay_out(points, ["k", "model"])
    assert (other.down, other.across) == ("[retrieve] k", "[answer] model")
    assert other.tables[0].rows == ["3", "10"]  # as numbers


def test_means_of_other_questions_or_by_another_judge_never_share_a_table():
    for name in ("questions", "judge", "judge's model"):
        matrix = lay_out([*grid(**{name: "x"}), *grid(**{name: "y"})])
        assert [table.of for table in matrix.tables] == [{name: "x"}, {name: "y"}]
    # Not even where each cell has one mean alone.
    apart = [mean(0.1, prompt="bare", questions="x"), mean(0.9, prompt="strict", questions="y")]
    assert [table.rows for table in lay_out(apart).tables] == [["bare"], ["strict"]]


def test_what_changes_along_with_a_row_is_named(says):
    points = [mean(0.1, prompt="bare", k="3"), mean(0.9, prompt="strict", k="10")]
    matrix = lay_out(points, ["prompt"])
    assert (matrix.across, matrix.along) == (None, ["k"])
    assert not is_crossed(matrix)
    says("\n".join(block.words for block in matrix_blocks(matrix, "right") if isinstance(block, Paragraph)))
    # The temperature of one model alone is a part of that model.
    of_one = [mean(0.1, model="a", temperature="0"), mean(0.9, model="b")]
    assert lay_out(of_one).along == []


def test_runs_with_the_same_settings_share_a_cell_and_are_not_averaged():
    matrix = lay_out([*grid(), mean(0.3, name="again", prompt="bare", model="large")])
    assert values(matrix.tables[0])[0][0] == [0.2, 0.3]
    (table,) = (block for block in matrix_blocks(matrix, "right") if isinstance(block, Table))
    cell = table.rows[0][1]
    assert (cell.words, cell.heat) == ("0.20 / 0.30", None)


def test_a_cell_shows_interval_failures_and_the_way_to_its_rows(says):
    points = [mean(0.5, prompt="bare", target="/rows", n=8), mean(None, prompt="strict", n=0)]
    (table,) = (block for block in matrix_blocks(lay_out(points), "right") if isinstance(block, Table))
    bare, strict = table.rows[0][1], table.rows[1][1]
    assert bare.words == ""
    says(bare.beside)
    assert [(link.words, link.target) for link in bare.links] == [("0.50", "/rows")]
    assert (strict.words, strict.heat) == ("no score", None)
    says(strict.beside)


@pytest.mark.parametrize(
    ("axes", "points"),
    [
        (["size"], grid()),
        (["prompt", "prompt"], grid()),
        (["prompt", "model", "k"], grid()),
        (["k"], grid()[:1]),
    ],
)
def test_axes_that_there_are_not_are_told(axes, points, says):
    with pytest.raises(DataError) as mistake:
        lay_out(points, axes)
    says(str(mistake.value))


def test_an_ambiguous_short_name_is_told(says):
    points = [mean(0.5, **{"[a] k": k, "[b] k": other}) for k in "12" for other in "34"]
    with pytest.raises(DataError) as mistake:
        lay_out(points, ["k"])
    says(str(mistake.value))
    assert lay_out(points, ["[b] k"]).down == "[b] k"


def test_nothing_that_differs_has_no_matrix():
    assert lay_out([]) is None
    assert lay_out(grid()[:1]) is None


POINTS = st.lists(
    st.builds(
        mean,
        st.none() | st.floats(0, 1),
        prompt=st.sampled_from("ab"),
        model=st.sampled_from("cd"),
        k=st.sampled_from(["1", "2"]),
        questions=st.sampled_from("xy"),
    ),
    max_size=12,
)


@given(POINTS)
def test_every_mean_is_in_one_cell_whose_settings_it_has(points):
    matrix = lay_out(points)
    if matrix is None or matrix.n_more:
        return
    placed = []
    for table in matrix.tables:
        for row, cells in zip(table.rows, table.cells, strict=True):
            for column, cell in zip(table.columns, cells, strict=True):
                for point in cell:
                    assert point.of[matrix.down] == row
                    assert matrix.across is None or point.of[matrix.across] == column
                    assert all(point.of[name] == value for name, value in table.of.items())
                placed += cell
                # What is in one cell was measured alike in everything that is known.
                assert len({tuple(sorted(point.of.items())) for point in cell}) <= 1
    assert sorted(map(id, placed)) == sorted(map(id, points))
