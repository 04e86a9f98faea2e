"""The plot of a judge's probabilities: what may be said of its bins, and what not."""

import msgspec
from tests.support.golden import sentence_in
from tests.support.tiny_run import card

from ragstone.features.agree._sentence_table import HOLD, OFF
from ragstone.features.agree.words import reliability_plot
from ragstone.kernel.document.plots.drawing import page_svgs
from ragstone.kernel.document.plots.tables import numbers_of
from ragstone.kernel.sentences import say
from ragstone.kernel.statistics import Calibration, Estimate
from ragstone.kernel.statistics.calibration import ReliabilityBin


def estimate(value: float, low: float | None, high: float | None, n: int = 50) -> Estimate:
    return Estimate(value=value, low=low, high=high, n=n, method="wilson")


def bins(*parts: tuple[float, float, float | None, float | None]) -> Calibration:
    some = estimate(0.1, 0.05, 0.15)
    return Calibration(
        error=some,
        usual_error=None,
        brier=some,
        rate_brier=0.2,
        bins=[
            ReliabilityBin(low=mean - 0.05, high=mean + 0.05, mean=mean, right=estimate(right, low, high))
            for mean, right, low, high in parts
        ],
    )


def test_bins_that_lie_off_are_counted_and_the_furthest_is_named(says):
    calibration = bins((0.2, 0.25, 0.1, 0.4), (0.9, 0.6, 0.5, 0.7), (0.7, 0.55, 0.5, 0.6))
    plot = reliability_plot(card(better=True), calibration)
    says(" ".join(plot.said))
    assert say(calibration, HOLD) == ""


def test_bins_that_hold_are_not_said_to_be_right_but_to_hold_with_how_wide_they_are(says):
    calibration = bins((0.2, 0.25, 0.1, 0.4), (0.9, 0.6, 0.3, 0.95))
    says(" ".join(reliability_plot(card(better=True), calibration).said))
    assert say(calibration, OFF) == ""


def test_one_bin_and_bins_without_an_interval_say_nothing():
    for calibration in (bins((0.5, 0.5, 0.4, 0.6)), bins((0.5, 0.9, None, None), (0.6, 0.1, None, None))):
        assert say(calibration, OFF, HOLD) == ""


def test_axes_are_in_plain_words_counts_are_visible_and_every_bin_has_its_interval(says):
    calibration = bins((0.2, 0.25, 0.1, 0.4), (0.9, 0.6, 0.5, 0.7))
    plot = reliability_plot(card(better=True), calibration)
    for svg in page_svgs(plot):
        says(sentence_in(svg, "Upwards:"))
        assert svg.count(">50</text>") == 2
        assert svg.count("c-line g0") == 2
    says(" | ".join(numbers_of(plot.figure)[1][1]))
    graded = msgspec.structs.replace(card(better=True), probability_of="its grade")
    says(sentence_in(page_svgs(reliability_plot(graded, calibration))[0], "Upwards:"))


def test_plots_of_two_judges_have_other_ids():
    calibration = bins((0.2, 0.25, 0.1, 0.4))
    one = card(better=True)
    other = msgspec.structs.replace(one, judge="another")
    assert reliability_plot(one, calibration).name != reliability_plot(other, calibration).name
