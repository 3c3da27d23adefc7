"""The process: the loop, signals, the state file, systemd. Everything with a clock."""

import logging
import threading
import time
from pathlib import Path

from hitless.corruptd import state
from hitless.corruptd.config import Config, read_config
from hitless.corruptd.daemon import Daemon
from hitless.corruptd.metrics import DaemonCollector
from hitless.errors import HitlessError
from hitless.service.metrics import serving
from hitless.service.process import Controlled, notify

log = logging.getLogger(__name__)

LISTEN_S = 0.1
"""Maximum time until a message is processed."""
SAVE_S = 10.0
"""Interval for saving the window; decisions are saved at once."""


class Service(Controlled):
    """One run of the daemon. `run` returns after `stop`, or after SIGTERM or SIGINT; SIGHUP reads the file again.

    Stopping leaves the switch unchanged: a corrupting link must not lose its protection during an upgrade.
    """

    def __init__(self, path: Path, *, dry_run: bool = False) -> None:
        super().__init__()
        self._path = path
        self._dry_run = dry_run
        self._lock = threading.Lock()
        self.config = self._read()
        self.daemon = self._make(self.config, self._load(self.config))
        self._collector = DaemonCollector(self.daemon, self._lock)

    def run(self) -> None:
        with serving(self._collector, self.config.metrics, "corruptd"):
            notify("READY=1")
            log.info("watching %d links, guarding %d", len(self.daemon.watches), len(self.daemon.guards))
            try:
                self._loop()
            finally:
                notify("STOPPING=1")
                self._save()
                self.daemon.bus.close()

    def _loop(self) -> None:
        saved_at_s = time.monotonic()
        while not self.is_stopping:
            if self.take_reload():
                self._read_again()
            if self.daemon.is_dirty:
                # A new epoch must be on disk before the first message carries it.
                self._save()
            now_s = time.monotonic()
            with self._lock:
                next_poll_s = self.daemon.step(now_s)
                is_due = self.daemon.is_dirty or now_s - saved_at_s >= SAVE_S
            if is_due:
                self._save()
                saved_at_s = now_s
            _alive()
            self.wake.wait(max(0.0, min(LISTEN_S, next_poll_s - time.monotonic())))

    def _read_again(self) -> None:
        try:
            config = self._read()
            with self._lock:
                before = self.daemon
                saved = state.snapshot(before, time.monotonic())
                daemon = self._make(config, saved)
                self.daemon = self._collector.daemon = daemon
                self.config = config
            before.bus.close()
        except HitlessError as wrong:
            log.error("%s was not read again, the daemon continues unchanged:\n%s", self._path, wrong)  # noqa: TRY400
            return
        log.info("%s was read again", self._path)

    def _read(self) -> Config:
        config = read_config(self._path)
        if self._dry_run:
            main = config.corruptd.model_copy(update={"dry_run": True})
            config = config.model_copy(update={"corruptd": main})
        config.check_surroundings(str(self._path))
        for warning in config.warnings():
            log.warning("%s: %s", self._path, warning)
        return config

    def _make(self, config: Config, saved: state.State | None) -> Daemon:
        epoch = state.next_epoch(saved, time.time_ns())
        daemon = Daemon(
            config.plan(), config.make_bus(), config.make_actor(), epoch, alive=_alive, wall_ns=time.time_ns
        )
        if saved is not None:
            state.restore(daemon, saved, time.monotonic())
        return daemon

    def _load(self, config: Config) -> state.State | None:
        path = config.corruptd.state_file
        if path is None:
            log.warning("no state_file: after a restart nothing is known until a window is full again")
            return None
        return state.load(path)

    def _save(self) -> None:
        self.daemon.is_dirty = False
        path = self.config.corruptd.state_file
        if path is None:
            return
        try:
            state.save(path, state.snapshot(self.daemon, time.monotonic()))
        except OSError as failed:
            log.error("the state was not saved: %s", failed)  # noqa: TRY400 - the text says it all


def _alive() -> None:
    notify("WATCHDOG=1")
