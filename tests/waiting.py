"""Patient waiting on a busy machine."""

import time


def wait_until(holds, patience_s=60.0, process=None, log=None):
    """Wait until something holds; ``process`` must not end before. Show its ``log`` otherwise."""
    until = time.monotonic() + patience_s
    while not holds():
        said = log.read_text() if log else "it did not come about"
        assert process is None or process.poll() is None, said
        assert time.monotonic() < until, said
        time.sleep(0.02)
