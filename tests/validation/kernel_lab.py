"""A lab with kernel_flows.py in its hosts h1 and h2: shared by kernel_failures.py and kernel_corruption.py. As root."""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import polars as pl
from run import HITLESS

FLOWS = Path(__file__).with_name("kernel_flows.py")
# Before everything else on a busy machine, and the lab before its programs: a lab that is late is another network.
FIRST = ["chrt", "--fifo", "10"]


class Lab:
    def __init__(self, scenario, *more):
        self.name = f"kernel{os.getpid()}"
        with tempfile.NamedTemporaryFile("w", suffix=".toml") as file:
            file.write(scenario)
            file.flush()
            self._hitless("up", file.name, *more, first=["chrt", "--fifo", "20"])
        self.server = self.start("h2", "serve", stdout=subprocess.PIPE)
        self.server.stdout.readline()

    def _hitless(self, *words, first=()):
        command = [*first, HITLESS, "lab", *words, "--name", self.name]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            raise SystemExit(done.stderr)
        return done.stdout

    def tell(self, *words):
        return self._hitless(*words)

    def run(self, host, *words):
        subprocess.run(["ip", "netns", "exec", f"hitless.{self.name}.{host}", *words], check=True)

    def start(self, host, *words, **more):
        command = [*FIRST, "ip", "netns", "exec", f"hitless.{self.name}.{host}", sys.executable, str(FLOWS), *words]
        return subprocess.Popen(command, text=True, **more)

    def send(self, sizes, threads, slices, seconds):
        """The flows of some slices of time, with what both ends say; `late` where the lab did not keep up."""
        kept = []
        for which in range(slices):
            turn = which * 1_000 % len(sizes)
            before = self._missed()
            table = self._slice(sizes[turn:] + sizes[:turn], threads, seconds)
            is_late = self._missed() != before
            kept.append(table.with_columns(slice=which, late=is_late))
        return pl.concat(kept)

    def _missed(self):
        status = self.status()
        return status["timers"]["misses"], [
            (port["departures"]["misses"], port["frames_overrun"]) for port in status["ports"]
        ]

    def _slice(self, sizes, threads, seconds):
        words = ["send", "10.0.0.2", str(threads), str(seconds)]
        client = self.start("h1", *words, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        written, _ = client.communicate(" ".join(map(str, sizes)))
        if client.returncode:
            raise SystemExit("the client failed")
        sent = pl.DataFrame([json.loads(line) for line in written.splitlines()])
        # A read that never comes up empty: the line of the last flow may still be on its way.
        numbers, taken = set(sent["flow"].to_list()), []
        while numbers:
            taken.append(json.loads(self.server.stdout.readline()))
            numbers.discard(taken[-1]["flow"])
        return sent.join(pl.DataFrame(taken), on="flow", suffix="_receiver")

    def status(self):
        return json.loads(self.tell("status", "--json"))

    def down(self):
        self.server.kill()
        self.server.wait()
        self.tell("down")
