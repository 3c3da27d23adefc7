"""A lab under faults, a lab that is killed, and a link with loss in both directions, for any duration: as root.

    .venv/bin/python tests/validation/soak.py lab --minutes 120
    .venv/bin/python tests/validation/soak.py kill --times 100
    .venv/bin/python tests/validation/soak.py link --frames 1e8

Each prints its counts as JSON, with its duration, and exits with 1 if a guarantee was violated. docs/evidence/live.md
has the figures. Traffic stays in network namespaces made for it.
"""

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
sys.path.insert(0, str(Path(__file__).parents[1] / "lab"))

from soak_faults import Faults
from soak_load import Load

from boxes import Boxes, link_ends, lossy_wire
from hitless.lab import client, control
from labs import Lab, chain, guardian, processes_of
from waiting import wait_until
from warm import PROGRAM

FABRIC = """
name = "soak"
[topology]
kind = "leaf-spine"
leaves = 2
spines = 2
hosts_per_leaf = 4
host_link = { rate = "20 Mbps", delay = "20 us" }
core_link = { rate = "40 Mbps", delay = "20 us" }
[switch]
buffer = { kind = "static", per_port = "400 KB" }
[recovery]
detection = { kind = "fixed", delay = "1 ms" }
scheme = { kind = "local-reroute", reconfiguration = "1 ms", backup = "first" }
"""
CONGESTION = {"queue full", "network card full"}
"""Drops by a TCP that fills a queue: these are not faults, and are counted separately."""
QUIET_EVERY = 10
"""Period in seconds; the last second of each is free of faults, and all losses in it must come from congestion."""
FLAT = 1.10
FIRST = ["chrt", "--rr", "10"]
"""Priority over everything else on a busy machine: a delayed end loses frames without a loss on the link."""


def soak_lab(minutes, seed):
    """Run eight hosts under iperf3, redis and small requests, with a fault every second."""
    lab = Lab(f"soak{os.getpid()}")
    folder = Path(tempfile.mkdtemp(prefix="soak-"))
    (folder / "soak.toml").write_text(FABRIC + guardian("leaf0->spine0", answer="2 ms"))
    broken, memory, quiet = [], [], 0
    lab.up(folder / "soak.toml", "--real-time", "--out", folder / "results")
    try:
        load = Load(lab)
        faults = Faults(lab, random.Random(seed))  # noqa: S311 - to be repeated
        until = time.monotonic() + 60 * minutes
        second = 0
        while time.monotonic() < until:
            began, second = time.monotonic(), second + 1
            if second % QUIET_EVERY == 0:
                faults.mend_all()
                time.sleep(0.5)
                quiet += 1
                broken += unexplained(lab)
            else:
                faults.one()
            load.keep_going()
            memory.append(resident_kib(lab.pid()))
            time.sleep(max(0.0, began + 1.0 - time.monotonic()))
        faults.mend_all()
        did = load.end()
    finally:
        ended = json.loads(lab.down("--json").stdout)
        load.clear()
    broken += balance(ended) + flatness(memory)
    if lab.left_behind():
        broken.append(f"left behind: {lab.left_behind()}")
    told = any("late" in warning for warning in ended["warnings"])
    if (ended["misses"] > 0) != told:
        broken.append(f"{ended['misses']} deadlines missed, and a warning of them: {told}")
    return {
        "seconds": round(ended["elapsed_s"]),
        "faults": faults.counts,
        "quiet seconds judged": quiet,
        "frames entered": ended["frames_entered"],
        "frames copied": ended["frames_copied"],
        "frames left": ended["frames_left"],
        "drops": ended["drops"],
        "corrupted": total(ended, "frames_corrupted"),
        "lost on links that were down": total(ended, "frames_lost_down"),
        "dropped by the kernel": ended["kernel_drops"],
        "deadlines missed": ended["misses"],
        "departures": sum(port["departures"]["count"] for port in ended["ports"]),
        "memory of the lab, KiB, first and last quarter": quarters(memory),
        "work": did,
        "broken": broken,
    }


def total(status, field):
    return sum(link[field] for link in status["links"])


def lost(status):
    """Return the losses that a fault must explain, by counter."""
    of_links = {f"{field} {each['link']}": each[field] for each in status["links"] for field in LOSSES}
    reasons = {reason: count for reason, count in status["drops"].items() if reason not in CONGESTION}
    of_kernel = {f"kernel {row['node']}": row["received"] + row["sent"] for row in status["kernel_drops"]}
    return of_links | reasons | of_kernel


LOSSES = ("frames_corrupted", "frames_lost_down")


def unexplained(lab):
    """Return the losses in a second without faults."""
    before = lost(client.ask(lab.name, control.Status()))
    time.sleep(0.4)
    after = lost(client.ask(lab.name, control.Status()))
    more = {where: count - before.get(where, 0) for where, count in after.items() if count > before.get(where, 0)}
    return [f"lost without a fault: {more}"] if more else []


def balance(status):
    """Assert that every frame left, was dropped for a reason, or is inside."""
    edge = {"receive ring overrun", "transmit refused", "interface down", "merged by an offload", "interface gone"}
    came = status["frames_entered"] + status["frames_copied"]
    gone = status["frames_left"] + status["frames_inside"]
    return [] if came >= gone and edge.isdisjoint(status["drops"]) else [f"edge: {status['drops']}, {came} - {gone}"]


def resident_kib(pid):
    fields = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in fields if line.startswith("VmRSS:"))


def quarters(memory):
    quarter = max(1, len(memory) // 4)
    return [max(memory[quarter : 2 * quarter] or memory), max(memory[-quarter:])]


def flatness(memory):
    early, late = quarters(memory)
    return [f"memory grew from {early} to {late} KiB"] if late > FLAT * early else []


def soak_kill(times, seed):
    """Kill a lab at any moment of its life; then `down` must remove everything."""
    moments = random.Random(seed)  # noqa: S311 - to be repeated
    folder = Path(tempfile.mkdtemp(prefix="soak-"))
    file = chain(folder, rate="20 Mbps")
    counts, broken = {"start": 0, "up": 0, "end": 0, "restart over what was left": 0}, []
    began = time.monotonic()
    for number in range(times):
        lab = Lab(f"kill{os.getpid()}-{number % 3}")
        when = moments.choice(["start", "start", "up", "end"])
        counts[when] += 1
        kill_when(lab, file, when, moments)
        if moments.random() < 0.3:
            # Without `down`: the next start finds the remains, and replaces them.
            counts["restart over what was left"] += 1
            lab.up(file)
        lab.down(code=None, traceback=True)
        if lab.left_behind():
            broken.append(f"{number}, {when}: {lab.left_behind()}")
    return {"kills": times, "seconds": round(time.monotonic() - began), "when": counts, "broken": broken}


def kill_when(lab, file, when, moments):
    starting = lab.starting(file)
    if when == "start":
        wait_until(lambda: processes_of(lab.name) or starting.poll() is not None)
        time.sleep(moments.uniform(0.0, 2.0))
    else:
        starting.wait(timeout=120)
    ending = None
    if when == "end":
        down = [PROGRAM, "lab", "down", "--name", lab.name]
        ending = subprocess.Popen(down, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(moments.uniform(0.2, 1.5))
    for word in processes_of(lab.name):
        with suppress(ProcessLookupError):
            os.kill(int(word.split()[1]), signal.SIGKILL)
    wait_until(lambda: not processes_of(lab.name))
    starting.wait(timeout=120)
    if ending is not None:
        ending.wait(timeout=120)


def soak_link(frames, rate, frames_per_s):
    """Run `hitless link` over a wire with loss in both directions: no duplicates, no reordering, no loss."""
    folder = Path(tempfile.mkdtemp(prefix="soak-"))
    boxes = Boxes()
    try:
        boxes.two_boxes()
        wire = lossy_wire(boxes, folder, rate, "100 Mbps", FIRST)
        ends = link_ends(boxes, folder, loss_rate=rate, first=FIRST)
        began = time.monotonic()
        found = Load.numbered(boxes, frames, frames_per_s)
        took_s = time.monotonic() - began
        codes = [end.end() for end in (*ends, wire)]
        logs = {name: (folder / f"{name}.log").read_text() for name in ("left", "right", "wire")}
        words = ("forwarded", "recovered", "warning")
        told = {
            name: [line for line in log.splitlines() if any(word in line for word in words)]
            for name, log in logs.items()
        }
    finally:
        boxes.clear()
    names = ("lost", "twice", "out of order")
    broken = [f"{found[name]} {name}" for name in names if found[name]] + [f"exit codes {codes}"] * any(codes)
    return {"loss rate each way": rate, "seconds": round(took_s), **found, "told": told, "broken": broken}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=["lab", "kill", "link"])
    parser.add_argument("--minutes", type=float, default=120)
    parser.add_argument("--times", type=int, default=100)
    parser.add_argument("--frames", type=float, default=1e8)
    parser.add_argument("--frames-per-second", type=float, default=4_000)
    parser.add_argument("--loss-rate", type=float, default=1e-3)
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    found = {
        "lab": lambda: soak_lab(asked.minutes, asked.seed),
        "kill": lambda: soak_kill(asked.times, asked.seed),
        "link": lambda: soak_link(int(asked.frames), asked.loss_rate, asked.frames_per_second),
    }[asked.what]()
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=False)
    print(json.dumps({"soak": asked.what, "commit": commit.stdout.strip(), **found}, indent=1))
    sys.exit(bool(found["broken"]))


if __name__ == "__main__":
    main()
