"""Several runs -> plots of a metric: its means, how far their order holds, and what they cost."""

import msgspec

from ragstone.features.compare.values import SeveralMeans, SeveralRuns
from ragstone.kernel.document.plots.values import Frontier, Intervals, Plot, PlotPoint
from ragstone.kernel.runs.order_plots import price_plot, rank_plot
from ragstone.kernel.runs.wording import judge_name


def several_plots(several: SeveralRuns, metric: SeveralMeans, at: int) -> list[Plot]:
    """Return the plots. at: place of the metric, which makes their names unique."""
    means = {
        column: mean.estimate
        for column in several.columns
        if (mean := metric.means.get(column)) and mean.estimate and not mean.labels
    }
    if len(means) < 2:
        return []
    first = next(iter(metric.means.values()))
    is_low_best = metric.best == "lowest"
    title = judge_name(first) + (" (lowest is best)" if is_low_best else "")
    prices = {} if several.usd is msgspec.UNSET else several.usd
    points = [
        PlotPoint(
            name=column,
            value=mean.value,
            low=mean.low,
            high=mean.high,
            n=mean.n,
            x=price.value if (price := prices.get(column)) else None,
            x_low=price.low if price else None,
            x_high=price.high if price else None,
        )
        for column, mean in means.items()
    ]
    figure = Intervals(
        points=points, axis=f"mean of {title}, with the 95 % interval", of="Run", ends=first.scale
    )
    frontier = Frontier(
        points=[],
        unit="usd",
        across="cost of 1,000 answers",
        upwards=f"mean of {title}",
        nothing="0 USD",
        is_low_best=is_low_best,
    )
    ranks = metric.ranks
    return [
        Plot(name=f"means-{at}", title=f"{title}: means", figure=figure, where="page"),
        *(
            []
            if ranks is msgspec.UNSET
            else [rank_plot(ranks, f"ranks-{at}", "Run", "the answers and the judge")]
        ),
        *price_plot(points, frontier, f"cost-{at}", f"{title} against cost"),
    ]
