"""The units of systemd: valid, and with minimum privileges."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from warm import PROGRAM

UNITS = Path(__file__).resolve().parents[2] / "packaging/systemd"


@pytest.mark.parametrize("name", ["hitless-switch.service", "hitless-link@.service", "hitless-corruptd.service"])
def test_a_unit_is_one_that_systemd_accepts(tmp_path, name):
    if shutil.which("systemd-analyze") is None:
        pytest.skip("systemd-analyze is missing")
    unit = tmp_path / name.replace("@", "@eth2")
    unit.write_text((UNITS / name).read_text().replace("/usr/bin/hitless", str(PROGRAM)))
    done = subprocess.run(["systemd-analyze", "verify", unit], capture_output=True, text=True, check=False)
    assert unit.stem not in done.stderr, done.stderr
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("name", ["hitless-switch.service", "hitless-link@.service"])
def test_a_unit_that_forwards_gives_two_capabilities_and_no_more(name):
    text = (UNITS / name).read_text()
    for field in ("AmbientCapabilities", "CapabilityBoundingSet"):
        assert re.findall(rf"^{field}=(.*)$", text, re.MULTILINE) == ["CAP_NET_RAW CAP_NET_ADMIN"]


def test_each_link_has_a_file_of_its_own():
    assert "/etc/hitless/link-%i.toml" in (UNITS / "hitless-link@.service").read_text()
