"""Keys of counters for programs."""

from typing import Any

import numpy as np
import pytest

from hitless.outcome.run import Run, Summary, counter_key
from hitless.outcome.tables import Tables


@pytest.mark.parametrize(
    ("counter", "key"),
    [
        ("packets lost", "packets_lost"),
        ("encoder buffer peak (bytes)", "encoder_buffer_peak_bytes"),
        ("ackNoTimeouts", "ack_no_timeouts"),
        ("tx_init_ctl_os", "tx_init_ctl_os"),
        ("resources: SRAM blocks", "resources_sram_blocks"),
    ],
)
def test_a_key_is_the_name_in_snake_case(counter: str, key: str) -> None:
    assert counter_key(counter) == counter_key(key) == key


def _counted(columns: dict[str, Any]) -> Run:
    return Run(effective="", summary=Summary({}), tables=Tables({"mechanisms": columns}), wall_s=0.0)


def test_a_counter_is_found_by_its_key_and_by_its_name() -> None:
    columns = {
        "switch": ["sw2", "sw6", "sw6"],
        "counter": ["packets lost", "packets lost", "packets recovered"],
        "value": np.array([1, 2, 4]),
    }
    run = _counted(columns)
    assert run.counter("packets_lost") == run.counter("packets lost") == 3
    assert run.counter("packets_lost", "sw6") == 2
    assert run.counter("packets_found", default=7) == 7
    with pytest.raises(KeyError, match="packets_found"):
        run.counter("packets_found")
    assert _counted({"switch": [], "counter": [], "value": np.array([])}).counter("packets_lost", default=0) == 0
