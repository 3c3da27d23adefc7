"""The windows of figure 3: the same run always gives the same result."""

import numpy as np
import polars as pl

from hitless.simulation import Run, Summary
from hitless_papers.sqr.failure_hit import Figure3


def test_the_interval_does_not_hang_on_the_order_in_which_batches_are_found():
    random = np.random.default_rng(1)
    flows = pl.DataFrame({"flow": range(400), "group": ["short"] * 400})
    progress = {"flow": random.integers(0, 400, 50_000), "cwnd_bytes": random.integers(14_480, 40_000, 50_000)}
    messages = flows.with_columns(delivered_ps=1, acknowledged_ps=1)
    tables = {"flows": flows, "messages": messages, "flow_progress": pl.DataFrame(progress)}
    run = Run("", Summary({}), tables)
    assert len({repr([row.interval for row in Figure3._windows("no failure", run)]) for _ in range(30)}) == 1
