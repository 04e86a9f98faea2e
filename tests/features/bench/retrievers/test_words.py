import re

import pytest
from tests.support.surfaces import page_text, plots_in, shown

from ragstone.features.bench.retrievers._board import MeasuredConfiguration, make_leaderboard
from ragstone.features.bench.retrievers._values import Configuration, FailedConfiguration, Timing
from ragstone.features.bench.retrievers.words import BenchSummary, bench_document, outcome, read_leaderboard
from ragstone.kernel.config import ChunkSection
from ragstone.kernel.document.blocks import Paragraph
from ragstone.kernel.document.html import charts_in
from ragstone.kernel.document.markdown import render_markdown
from ragstone.kernel.document.plots.drawing import page_svgs
from ragstone.kernel.errors import DataError
from ragstone.kernel.records import Question, Ranking, RankingItem
from ragstone.kernel.retrieval.query_measures import measure_cut
from ragstone.kernel.runs.summary import Calls


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


def bench(words="What is it?", *, name="bm25", n_cells=3, batch=110, found=None):
    asked = questions(words)
    found = found or [60 - 20 * at for at in range(n_cells)]
    cells = [
        MeasuredConfiguration(
            configuration=Configuration(name=f"{name}{at}", chunker=ChunkSection(), retriever="bm25"),
            by_k={k: measure_cut(rankings(found[at], asked), asked, k, {}, {}) for k in (1, 2)},
            rankings=rankings(found[at], asked),
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
    down = FailedConfiguration(
        configuration=Configuration(name="down", chunker=ChunkSection(), retriever="dense"), reason=words
    )
    board = make_leaderboard(cells, [down], asked, "recall", why="of the test", batch=batch)
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


def test_leaderboard_shows_verdicts_intervals_other_k_failures_and_what_came_first_instead(says):
    text = render_markdown(bench_document(bench()))
    assert "nothing found" not in text
    says(text)


@pytest.mark.parametrize("found", [(40, 40), (40, 40, 40), (40, 40, 20), (40, 40, 39), (40, 39, 20)])
def test_configurations_with_the_same_mean_are_named_together(found, says):
    says(outcome(bench(n_cells=len(found), found=found).leaderboard))


def test_chart_has_the_median_time_to_the_right_and_the_measure_upwards(says):
    summary = bench()
    plots = plots_in(bench_document(summary))
    says("\n\n".join(" ".join(plot.said) for plot in plots.values()))
    plot = plots["price-time"]
    assert [point.place for point in plot.figure.points] == [1, 2, 3]
    assert [point.x for point in plot.figure.points] == [0.002, 0.02, 0.2]
    assert "1 ms" in "".join(page_svgs(plot))


@pytest.mark.parametrize("n_cells", [1, 2])
def test_leaderboard_of_few_configurations_can_be_drawn(n_cells):
    plots = plots_in(bench_document(bench(n_cells=n_cells)))
    assert len(plots["price-time"].figure.points) == n_cells
    assert ("ranks" in plots) == (n_cells > 1)
    assert "bm250" in page_text(bench_document(bench(n_cells=n_cells)))


def test_terminal_shows_the_leaderboard_in_100_columns_and_three_questions():
    text = shown(bench_document(bench("Which of the many crops " * 9, name="recursive 600 · hybrid ")))
    assert text.count("…") == 3
    assert re.search(r"most: \S+ \(place", text)
    assert re.search(r"\d\.\d\d \((absent|\d)\)", text)
    assert "= best?" in text
    assert "worse" in text
    assert "was not measured" in text


def test_folder_without_a_leaderboard_says_what_to_do(tmp_path, says):
    with pytest.raises(DataError) as error:
        read_leaderboard(tmp_path)
    says(error.value)
    (tmp_path / "leaderboard.json").write_text("{}")
    with pytest.raises(DataError) as error:
        read_leaderboard(tmp_path)
    says(error.value)


def test_batches_are_a_table_in_the_terminal_and_lines_with_bands_on_the_page(says):
    # 60 questions in batches of 25: 25, 25 and 10. bm250 finds all, bm251 the first 40, bm252 the first 20.
    document = bench_document(bench(batch=25))
    text = shown(document)
    rows = [line.split() for line in text.splitlines()]
    assert ["00000_00025", "25", "1.00", "1.00", "0.80"] in rows
    assert ["00025_00025", "25", "1.00", "0.60", "0.00"] in rows
    assert ["00050_00010", "10", "1.00", "0.00", "0.00"] in rows
    texts = [block.words for block in document.blocks if isinstance(block, Paragraph)]
    says(next(text for text in texts if "is highest" in text))
    lead, rank_score = charts_in(document.blocks)
    says(lead.title)
    assert rank_score.title.startswith("rank_score@1 by batches")
    drawn = {(one["batch"], one["j"]): one for one in lead.spec["data"]["values"]}
    assert len(drawn) == len(lead.rows) == 9
    second = drawn["00025_00025", "2 bm251"]
    assert second["m"] == pytest.approx(15 / 25)
    assert second["l"] < second["m"] < second["h"]


def test_more_configurations_than_colours_have_a_second_chart_and_one_batch_has_none():
    titles = [chart.title for chart in charts_in(bench_document(bench(n_cells=9, batch=30)).blocks)]
    assert [title.rpartition("places ")[2] for title in titles] == ["1 to 8", "9 to 9"] * 2
    assert charts_in(bench_document(bench(batch=60)).blocks) == []
    assert "By batches" not in shown(bench_document(bench(batch=60)))
