"""hitless bench live, from the command line, for as short as it can be measured."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

HITLESS = Path(sys.executable).with_name("hitless")


def _namespaces_are_permitted() -> bool:
    name = "hl-probe"
    if shutil.which("ip") is None or shutil.which("iperf3") is None:
        return False
    made = subprocess.run(["ip", "netns", "add", name], capture_output=True, check=False).returncode == 0
    subprocess.run(["ip", "netns", "delete", name], capture_output=True, check=False)
    return made


@pytest.mark.skipif(
    not _namespaces_are_permitted(),
    reason="network namespaces are not permitted here, or iproute2 or iperf3 is missing",
)
def test_the_bridge_and_the_switch_are_measured_and_nothing_is_left() -> None:
    command = [HITLESS, "bench", "live", "bridge", "switch, packet"]
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
        assert row["duplicates"] == 0, name
    assert not [path.name for path in Path("/run/netns").iterdir() if path.name.startswith("hl-bench-")]
