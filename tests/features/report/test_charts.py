"""The charts of a report: what is in them, what is said of them, and that text from outside stays text."""

import hashlib
from importlib import resources

import msgspec
from tests.support.tiny_run import QUESTIONS, card, judgement, summary_of

from ragstone.features.report._chart_sentence_table import OUTER, WIDEST, DrawnMeans
from ragstone.features.report._charts import agreement_chart, distribution_chart, means_chart, tag_charts
from ragstone.features.report._findings import headlines
from ragstone.features.run._breakdown import distributions, means_by_tag
from ragstone.kernel.document.charts import Chart
from ragstone.kernel.document.html import LIBRARIES, draw
from ragstone.kernel.document.plots.drawing import page_svgs
from ragstone.kernel.document.plots.tables import numbers_of
from ragstone.kernel.document.plots.values import PlotPoint
from ragstone.kernel.sentences import say


def numbers(plot) -> list[list[str]]:
    return numbers_of(plot.figure)[1]


def test_means_are_shares_of_their_scale_beside_the_numbers_as_a_table() -> None:
    rows = [judgement("q1", "rubric", 3, scale=(1, 5)), judgement("q2", "rubric", 4, scale=(1, 5))]
    rows += [judgement("q1", "correctness", 1), judgement("q2", "correctness", 0)]
    plot = means_chart(summary_of(rows).metrics)
    assert plot
    assert [point.name for point in plot.figure.points] == ["rubric", "correctness"]
    assert plot.figure.points[0].value == 0.625  # (3.5 - 1) / (5 - 1)
    assert plot.figure.points[1].value == 0.5
    assert numbers_of(plot.figure)[0] == ["Judge", "Mean", "Interval", "Rows"]
    assert numbers(plot)[0][:2] == ["rubric", "0.62"]
    assert numbers(plot)[1][-1] == "2"


def test_one_mean_alone_is_no_chart() -> None:
    assert means_chart(summary_of([judgement("q1", "correctness", 1)]).metrics) is None


def test_a_mean_without_a_scale_has_no_place_in_the_chart() -> None:
    rows = [judgement("q1", name, 1) for name in ("correctness", "faithfulness")]
    rows.append(judgement("q1", "length", 40, scale=None))
    plot = means_chart(summary_of(rows).metrics)
    assert plot
    assert [row[0] for row in numbers(plot)] == ["correctness", "faithfulness"]


def test_several_systems_are_told_apart_by_colour_shape_and_place() -> None:
    rows = [judgement("q1", "correctness", 1, system=system) for system in ("a", "b")]
    plot = means_chart(summary_of(rows).metrics)
    assert plot
    wide, _ = page_svgs(plot)
    assert "c-dot g0" in wide
    assert "c-dot g1" in wide
    assert wide.count("<circle") == 2  # the point of the first, and that of its name above
    assert numbers_of(plot.figure)[0][1] == "System"


def test_scores_are_counted_one_by_one_and_shown_as_shares() -> None:
    rows = [judgement(f"q{n}", "grade", score, scale=(0, 2)) for n, score in enumerate((0, 2, 2, 1))]
    plot = distribution_chart(distributions(rows))
    assert plot
    assert plot.figure.rows[0].parts == [("2", 0.5, 2), ("1", 0.25, 1), ("0", 0.25, 1)]
    assert numbers(plot) == [
        ["grade", "2", "50 %", "2"],
        ["grade", "1", "25 %", "1"],
        ["grade", "0", "25 %", "1"],
    ]


def test_nothing_scored_is_no_chart() -> None:
    assert distribution_chart(distributions([judgement("q1", "correctness", None, status="timeout")])) is None
    assert agreement_chart([]) is None


def tagged(n_values: int):
    rows = [
        judgement(f"q{n}", name, n % 3 > 0) for n in range(20) for name in ("correctness", "faithfulness")
    ]
    questions = [
        msgspec.structs.replace(QUESTIONS[0], id=f"q{n}", tags={"crop": "abcd"[n * n_values // 20]})
        for n in range(20)
    ]
    return tag_charts(means_by_tag(rows, questions), headlines(summary_of(rows)))


def test_groups_show_the_headline_judge_alone() -> None:
    [(grouping, plot)] = tagged(2)
    assert grouping.by == "crop"
    assert [row[0] for row in numbers(plot)] == ["a", "b"]
    assert plot.title == "correctness by crop"


def test_which_value_is_lowest_is_said_of_three_or_more_and_with_what_chance_does(says) -> None:
    [(_, three)] = tagged(3)
    says(" ".join(three.said))
    [(_, two)] = tagged(2)
    assert list(two.said) == []


def drawn(*means: float, wide: float = 0.2) -> list[PlotPoint]:
    return [
        PlotPoint(name=f"v{at}", group="s", value=mean, low=mean, high=mean + (wide if at == 0 else 0.1), n=9)
        for at, mean in enumerate(means)
    ]


def test_all_that_share_the_lowest_or_the_highest_mean_are_named(says) -> None:
    says(say(DrawnMeans(drawn(0.0, 0.0, 0.0, 0.0, 0.5, 0.1 + 0.2, 1.0)), OUTER))
    assert say(DrawnMeans(drawn(0.1 + 0.2, 0.3, 0.3)), OUTER) == ""  # alike but for rounding
    says(say(DrawnMeans(drawn(0.0, 0.5, 1.0), n_left_out=4), OUTER))


def test_the_widest_interval_is_not_the_least_known_where_one_has_none(says) -> None:
    points = drawn(0.2, 0.5, 0.6)
    says(say(DrawnMeans(points), WIDEST))
    single = PlotPoint(name="single", group="s", value=1.0, n=1)
    assert say(DrawnMeans([*points, single]), WIDEST) == ""


def test_agreement_stands_beside_that_of_the_baseline(says) -> None:
    plot = agreement_chart([card(better=True)])
    assert plot
    assert numbers_of(plot.figure)[0][:2] == ["Agreement", "Value"]  # a kappa is no mean
    assert [row[:2] for row in numbers(plot)] == [
        ["kappa of correctness (openai/gpt-4o-mini)", "−0.10"],
        ["exact agreement of correctness (openai/gpt-4o-mini)", "0.75"],
        ["always right", "0.70"],
    ]
    says(" ".join(plot.said))
    bare = msgspec.structs.replace(card(better=True), constant=None)
    alone = agreement_chart([bare])
    assert alone
    assert list(alone.said) == []


def test_the_widest_interval_is_named_only_where_one_is_clearly_the_widest(says) -> None:
    rows = [judgement(f"q{n}", "correctness", n % 2) for n in range(40)]
    few = [judgement(f"q{n}", "faithfulness", n % 2) for n in range(8)]
    plot = means_chart(summary_of([*rows, *few]).metrics)
    assert plot
    says(" ".join(plot.said))
    same = [judgement(f"q{n}", "relevance", n % 2) for n in range(40)]
    alike = means_chart(summary_of([*rows, *same]).metrics)
    assert alike
    assert list(alike.said) == []


def test_scores_are_called_alike_only_where_more_than_half_are(says) -> None:
    def said(scores) -> list[str]:
        rows = [judgement(f"q{n}", "grade", score, scale=(0, 2)) for n, score in enumerate(scores)]
        plot = distribution_chart(distributions(rows))
        assert plot
        return list(plot.said)

    says(" ".join(said((2, 2, 2, 1))))
    assert said((2, 2, 1, 0)) == []
    assert said((2,)) == []
    (sentence,) = said([2] * 399 + [1])
    says(sentence)


def test_text_from_outside_is_escaped_and_cut() -> None:
    evil = "'] || alert(1) || ['</script><svg onload=alert(2)>" + "x" * 500
    rows = [judgement("q1", name, 1, system=system) for name in (evil, "b") for system in (evil, "c")]
    plot = means_chart(summary_of(rows).metrics)
    assert plot
    for svg in page_svgs(plot):
        assert "<svg onload" not in svg
        assert "</script>" not in svg
        assert "&lt;/script&gt;" in svg


def test_the_libraries_are_what_was_published_and_a_page_without_charts_of_theirs_has_none() -> None:
    folder = resources.files("ragstone.kernel.document").joinpath("vendor")
    for name, digest in LIBRARIES.items():
        assert hashlib.sha256(folder.joinpath(name).read_bytes()).hexdigest() == digest, name
    drawn = draw([])
    assert (drawn.specs, drawn.libraries, drawn.script) == ({}, [], "")
    chart = Chart(name="c", title="t", said="s", spec={"title": "</script>"}, head=[], rows=[])
    assert not [text for text in draw([chart]).libraries if "</script" in text or "<!--" in text]
    assert "</script>" not in draw([chart]).specs["c"]
