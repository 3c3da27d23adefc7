"""Plots of a comparison."""

from collections.abc import Sequence

from hitless.comparison.compared import Compared
from hitless.drawing.plot import Plot, Series


def ratios_plot(labels: tuple[str, str], compared: Sequence[Compared], seeds: int) -> Plot | None:
    """Plot the ratio b / a of each metric that has one, a series for each group; None without ratios."""
    chosen = [one for one in compared if one.metric.kind == "ratio"]
    metrics = list(dict.fromkeys(one.metric.name for one in chosen))
    series = []
    for of in dict.fromkeys(one.metric.of for one in chosen):
        found = {one.metric.name: one.paired for one in chosen if one.metric.of == of}
        values = [found[name].estimate if name in found else None for name in metrics]
        intervals = [found[name].interval if name in found else None for name in metrics]
        series.append(Series(of, metrics, values, intervals, style="bars"))
    if not series:
        return None
    title = f"{labels[1]} (b) vs. {labels[0]} (a)"
    caption = (
        f"Ratios b / a: geometric means over {seeds} pairs of runs, with 95 % intervals by Student's t. "
        "At 1 there is no difference."
    )
    return Plot(title, "metric", "b / a", series, caption=caption)


def pairs_plot(labels: tuple[str, str], one: Compared) -> Plot:
    """Plot a metric on both sides for each pair of runs."""
    numbers = [str(number) for number in range(1, len(one.values) + 1)]
    series = [
        Series(label, numbers, [pair[side] for pair in one.values], style="points") for side, label in enumerate(labels)
    ]
    name, unit = one.metric.name, one.metric.unit
    title = name if one.metric.of == "all" else f"{name}, {one.metric.of}"
    return Plot(title, "pair of runs", f"{name} ({unit})" if unit else name, series)
