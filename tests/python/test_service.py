"""What long-running processes share."""

import subprocess
import sys
import time

import pytest

from hitless.errors import BadInput
from hitless.lab import control
from hitless.service.process import Wake

_INTERRUPTED = """
import signal
from hitless.service.process import Wake
wake = Wake()
signal.signal(signal.SIGALRM, lambda *_: wake.set())
signal.setitimer(signal.ITIMER_REAL, 5e-5, 5e-5)
for _ in range(3_000):
    wake.wait(1e-4)
signal.setitimer(signal.ITIMER_REAL, 0)
"""


def test_what_was_set_before_ends_the_wait_and_only_once():
    wake = Wake()
    wake.set()
    wake.set()
    began = time.monotonic()
    wake.wait(60.0)
    assert time.monotonic() - began < 30.0
    wake.wait(0.0)


def test_a_signal_in_the_middle_of_a_wait_does_not_lock_the_service_up():
    subprocess.run([sys.executable, "-c", _INTERRUPTED], check=True, timeout=300)


@pytest.mark.parametrize(
    ("kind", "values", "told"),
    [
        (control.Fail, {"link": ""}, "link ''"),
        (control.Corrupt, {"link": "a->b", "rate": float("nan")}, "rate nan"),
        (control.Corrupt, {"link": "a->b", "rate": 1.5}, "rate 1.5"),
        (control.Protect, {"link": "a->b", "copies": 0}, "copies 0"),
    ],
)
def test_a_request_that_no_lab_could_mean_is_refused_before_one_is_asked(kind, values, told):
    with pytest.raises(BadInput) as refused:
        control.made(kind, values)
    assert told in str(refused.value)
    assert "rule: " in str(refused.value)
