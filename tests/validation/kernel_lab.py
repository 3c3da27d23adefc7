"""A lab with kernel_flows.py in its hosts h1 and h2: shared by kernel_failures.py and kernel_corruption.py. As root."""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import polars as pl

sys.path.insert(0, str(Path(__file__).parents[1]))
sys.path.insert(0, str(Path(__file__).parents[1] / "lab"))

from run import HITLESS

import labs

FLOWS = Path(__file__).with_name("kernel_flows.py")
# Higher priority than everything else on a busy machine, and the lab before its programs: a late lab is another
# network.
FIRST = ["chrt", "--fifo", "10"]


class Lab(labs.Lab):
    def __init__(self, scenario, *more):
        super().__init__(f"kernel{os.getpid()}")
        with tempfile.NamedTemporaryFile("w", suffix=".toml") as file:
            file.write(scenario)
            file.flush()
            command = ["chrt", "--fifo", "20", HITLESS, "lab", "up", file.name, "--name", self.name, *more]
            subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
        self.server = self.flows("h2", "serve", stdout=subprocess.PIPE)
        self.server.stdout.readline()

    def flows(self, host, *words, **more):
        command = [*FIRST, "ip", "netns", "exec", f"hitless.{self.name}.{host}", sys.executable, str(FLOWS), *words]
        return subprocess.Popen(command, text=True, **more)

    def send(self, sizes, threads, slices, seconds):
        """Return the flows of some slices of time, with the reports of both ends; `late` if the lab did not keep up."""
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
        client = self.flows("h1", *words, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        written, _ = client.communicate(" ".join(map(str, sizes)))
        if client.returncode:
            raise SystemExit("the client failed")
        sent = pl.DataFrame([json.loads(line) for line in written.splitlines()])
        # Block until the read is complete: the line of the last flow may still be in flight.
        numbers, taken = set(sent["flow"].to_list()), []
        while numbers:
            taken.append(json.loads(self.server.stdout.readline()))
            numbers.discard(taken[-1]["flow"])
        return sent.join(pl.DataFrame(taken), on="flow", suffix="_receiver")

    def down(self):
        self.server.kill()
        self.server.wait()
        super().down()
