"""What rows of LinkGuardian's exhibits rest on: settings that were calibrated or assumed, and flows that finished."""

from hitless.simulation import Run
from hitless_papers import Share

KERNEL_NOTE = 'hosts as in the authors\' scripts, their delays calibrated on the column "No Loss" of table 2'
"""Of every number that kernel-based TCP makes."""

REPAIR_NOTE = "latency of repairs calibrated on the largest delay at 25G of figure 19"
"""Of every number that depends on how long LinkGuardian takes to repair."""

CARD_NOTE = "the jitter of the RDMA card is assumed"
"""Of every number that RDMA makes."""


def share(series: str, run: Run) -> Share:
    """How many messages of a scheme's run were delivered and acknowledged, of those that began."""
    return Share(series, len(run.completed_messages()), len(run.table("messages")))
