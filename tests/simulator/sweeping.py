"""Common parts of the tests of sweeps."""

import os
import signal
from pathlib import Path

import hitless as hl

MARKER = "HITLESS_TEST_MARKER"
LG = {"kind": "linkguardian", "link": "sw2->sw6", "target_loss_rate": 1e-8}
GRID = {
    "link[0].loss.rate": [1e-3, 1e-2],
    "mechanism": {"none": [], "LG": [LG], "LG_NB": [LG | {"mode": "non-blocking"}]},
}
SEEDS = 3


def base(messages=300):
    return hl.example("linkguardian-testbed").with_("flows[0].count", messages)


def mortal(run):
    """A user's metric that kills its first worker."""
    marker = Path(os.environ[MARKER])
    if not marker.exists():
        marker.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return {"slowest": max(run.messages["fct_us"])}


def sweep(out, **options):
    return hl.sweep(base(), GRID, seeds=SEEDS, keep=["messages"], out=out, progress=False, **options)


def contents(out):
    return {str(path.relative_to(out)): path.read_bytes() for path in [out / "rows.parquet", *out.glob("tables/*/*")]}
