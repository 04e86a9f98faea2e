"""What the plot of a board says of its values."""

from ragstone.features.bench._plots import board_plot
from ragstone.kernel.document.charts import Dot
from ragstone.kernel.document.plots.values import Plot


def said(*values: float, is_low_best: bool = False) -> str:
    dots = [
        Dot(name=f"j{at}", value=value, low=value, high=value + 0.1, group="best")
        for at, value in enumerate(values)
    ]
    plot = board_plot("difference", dots, "difference", is_low_best=is_low_best)[-1]
    assert isinstance(plot, Plot)
    return " ".join(plot.said)


def test_the_value_that_is_named_is_the_best_one_also_where_that_is_the_lowest(says) -> None:
    says(said(0.2, 0.5))
    says(said(0.2, 0.5, is_low_best=True))


def test_none_is_named_alone_where_two_have_the_best_value() -> None:
    assert said(0.1 + 0.2, 0.3, 0.1) == ""  # alike but for rounding
    assert said(0.1 + 0.2, 0.3, 0.4, is_low_best=True) == ""
