"""A leaderboard becomes a data frame with all its nested numbers."""

from tests.features.bench.retrievers.test_words import bench

from ragstone.kernel.tables import Rows


def test_a_leaderboard_becomes_a_frame_with_all_its_nested_numbers():
    standings = Rows(bench("x").leaderboard.standings)
    frame = standings.to_polars().unnest("configuration", "timing")
    assert frame["name"].to_list() == ["bm250", "bm251", "bm252"]
    assert frame["p50_s"].to_list() == [0.002, 0.02, 0.2]
    values = standings.to_duckdb().project("measures->>'$.\"1\".mrr.value'").fetchall()
    assert [float(value) for (value,) in values] == [
        row.measures["1"]["mrr"].value for row in standings
    ]  # a table of tables is JSON there
