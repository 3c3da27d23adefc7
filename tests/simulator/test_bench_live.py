"""hitless bench live, from the command line, with minimum durations."""

import json
import subprocess
from pathlib import Path

import pytest

from labs import require_tool, why_no_labs
from warm import PROGRAM


def test_the_bridge_and_the_switch_are_measured_and_nothing_is_left() -> None:
    require_tool("iperf3", "iperf3")
    if (reason := why_no_labs()) is not None:
        pytest.skip(reason)
    command = [PROGRAM, "bench", "live", "bridge", "switch, packet"]
    done = subprocess.run(
        [*command, "--trial", "0.1", "--tcp", "1", "--json"], capture_output=True, text=True, check=False, timeout=300
    )
    assert done.returncode == 0, done.stderr
    rows = {row["device"]: row for row in json.loads(done.stdout)}
    assert list(rows) == ["wire", "kernel bridge", "switch, packet"]
    for name, row in rows.items():
        assert "failed" not in row, (name, row)
        assert row["flood_pps"] > 0, name
        assert row["tcp"]["throughput_bps"] > 0, name
        assert row["tcp_with_tso"]["throughput_bps"] > 0, name
        assert row["duplicates"] == 0, name
    assert not [path.name for path in Path("/run/netns").iterdir() if path.name.startswith("hl-bench-")]
