"""Waiting for what a busy machine may take long for."""

import time


def wait_until(holds, patience_s=60.0, process=None, log=None):
    """Until something holds; ``process`` may not end before. What its ``log`` says is shown otherwise."""
    until = time.monotonic() + patience_s
    while not holds():
        said = log.read_text() if log else "it did not come about"
        assert process is None or process.poll() is None, said
        assert time.monotonic() < until, said
        time.sleep(0.02)
