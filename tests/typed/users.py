"""Code that users write: mypy checks it strictly, without running it. An error that mypy no longer finds fails, too."""

import polars as pl

import hitless as hl

loss: hl.types.LossModelBernoulli = {"kind": "bernoulli", "rate": 1e-3}
scenario = hl.example("linkguardian-testbed").with_("link[0].loss", loss)
run = scenario.run(seed=1)
tail: pl.Series = run.messages["fct_us"]
interval: hl.Interval = hl.percentile_interval(tail.to_list(), 99.0)
steps = scenario.start(seed=2)
for now_us in steps.every("100 us"):
    if now_us > 1e3:
        steps.fail("sw2->sw6")


def slowest(run: hl.Run) -> dict[str, float]:
    """Return the longest completion time of a run."""
    return {"slowest": max(run.messages["fct_us"])}


swept: hl.Swept = hl.sweep(scenario, {"link[0].loss.rate": [1e-4, 1e-3]}, seeds=20, measure=slowest)
picture: hl.Picture = swept.plot("p99 FCT")
picture.save("tail.pdf", width="two-column", intervals="band")
swept.axes("p99 FCT", font_size=9).set_title("tail")
compared: hl.Comparison = hl.compare("mine.toml", with_="linkguardian", seeds=20)
significant: pl.DataFrame = compared.table.filter(pl.col("finding") != "not significant")
compared.save("ratios.pdf", width="one-column")
completed: int = hl.run("mine.toml", seed=3).summary["flows.completed"]

wrong: hl.types.LossModelBernoulli = {"kind": "bernoulli", "rate": "high"}  # type: ignore[typeddict-item]
steps.fail("sw2->sw6", 3)  # type: ignore[call-arg]
