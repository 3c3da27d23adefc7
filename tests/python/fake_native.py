"""A stand-in for `hitless._native` that does not simulate, with all outcomes of the real one."""

import json
import os
import threading
import tomllib
from pathlib import Path

import numpy as np
import tomli_w


class ScenarioError(Exception):
    pass


class SimulationError(Exception):
    pass


class MechanismError(Exception):
    pass


class Cancelled(Exception):
    pass


class CheckpointError(Exception):
    pass


class Checkpoints:
    """Checkpoints without content."""

    def __init__(self, path, program, *, wall_s=None, simulated_ps=None, resumes=False):
        pass


class Context:
    """Like the names below: used by the classes of mechanisms and transports, but not here."""


Ack = DropReason = Event = TransportWindow = Verdict = Context


FIELDS = {"seed", "scheme", "messages", "seconds", "fails", "median_us"}
EXAMPLE = 'scheme = "LG"\nmessages = 1000\nseed = 5\n'


def _read(text, file_name):
    try:
        scenario = tomllib.loads(text)
    except tomllib.TOMLDecodeError as broken:
        raise ScenarioError(f"error: {broken}\n  where: {file_name}") from broken
    for name in scenario:
        if name not in FIELDS:
            raise ScenarioError(f"error: unknown field {name!r}\n  where: {file_name}\n  hint: see scenario schema")
    return {"seed": 1, "scheme": "none", "messages": 100, "seconds": 0.0, "fails": False, "median_us": 10.0} | scenario


class CheckedScenario:
    def __init__(self, text, file_name, keeps_rows=True, threads=1):
        self.text, self.fields = text, _read(text, file_name)

    @property
    def effective(self):
        return tomli_w.dumps(self.fields)

    def memory(self):
        return 18e6, [("topology", "3 links", 9e3)]


class Simulation:
    def __init__(self, scenario, seed=None):
        self._scenario = dict(scenario.fields)
        if seed is not None:
            self._scenario["seed"] = seed
        self._cancelled = threading.Event()
        self._stopped = False
        self.progress = 0.0
        self.summary = ""
        self.tables = {}
        self.captures = {}

    @property
    def effective(self):
        return tomli_w.dumps(self._scenario)

    def cancel(self):
        self._cancelled.set()

    def stop(self):
        self._stopped = True
        self._cancelled.set()

    def run(self, threads=1, rows=None, checkpoints=None, kept=None):
        _log(self._scenario, threads)
        for step in range(10):
            self.progress = step / 10
            if self._cancelled.wait(self._scenario["seconds"] / 10):
                if self._stopped:
                    break
                raise Cancelled
        if self._scenario["fails"]:
            raise SimulationError("a check of the simulator failed: 3 packets are missing")
        self.progress = 1.0
        self.tables = {
            "messages": _messages(self._scenario),
            "queues": {
                "port": ["a->b"] * 3,
                "time_ps": np.arange(3, dtype=np.int64),
                "value_bytes": np.zeros(3, np.uint64),
            },
        }
        if rows is not None:
            rows("messages", self.tables.pop("messages"))
        summary = _summary(self._scenario)
        if self._stopped:
            summary |= {"ended_by": "interrupted", "incomplete": "the run was interrupted before its end"}
        self.summary = json.dumps(summary)


def _log(scenario, threads):
    """Tell a test which simulations ran, and on how many threads."""
    if "HITLESS_FAKE_LOG" in os.environ:
        with Path(os.environ["HITLESS_FAKE_LOG"]).open("a") as log:
            log.write(f"{scenario['scheme']} {scenario['seed']}\n")
    if "HITLESS_FAKE_THREADS" in os.environ:
        Path(os.environ["HITLESS_FAKE_THREADS"]).write_text(str(threads))


def _messages(scenario):
    random = np.random.Generator(np.random.PCG64(scenario["seed"]))
    count = scenario["messages"]
    times = (random.lognormal(np.log(scenario["median_us"]), 0.5, count) * 1e6).astype(np.int64)
    started = np.arange(count, dtype=np.int64) * 1_000_000
    delivered = started + times
    return {
        "flow": np.arange(count, dtype=np.uint64),
        "group": [scenario["scheme"]] * count,
        "bytes": np.full(count, 143, np.uint64),
        "started_ps": started,
        "delivered_ps": delivered,
        "acknowledged_ps": np.where(delivered % 7 == 0, -1, delivered + 1_000_000),
    }


def _summary(scenario):
    return {
        "seed": scenario["seed"],
        "trace_hash": f"{scenario['seed']:016x}",
        "drops": {"corruption": scenario["messages"] // 100},
        "warnings": ["LinkGuardian was on and never acted"] if scenario["scheme"] == "LG" else [],
        "mechanisms": {"linkguardian": {"retransmissions": 12}},
        "transmissions": 10 * scenario["messages"],
    }


def memory_limit(root="/"):
    return 1 << 33


def version():
    return "0.0.0"


def scenario_schema(format):
    schema = {"title": "Scenario", "$defs": {"MechanismSettings": {"oneOf": []}}}
    return json.dumps(schema) if format == "json" else "seed  integer  the seed"


def scenario_examples():
    return [("one-link", "two hosts and a link that corrupts"), ("fabric", "a leaf-spine fabric")]


def scenario_example(name):
    return EXAMPLE if name == "one-link" else None


def mechanism_counters():
    return [("", [("packets_lost", "packets lost", "")])]


def bench_switch_disciplines():
    return [("fifo", "fifo"), ("sfq", "fifo")]


def bench_switch(discipline, load, fraction, seed):
    cpu_s = 0.5 if discipline == "fifo" else 0.75
    packets = int(300_000 * fraction)
    return json.dumps(
        {
            "discipline": discipline,
            "load": load,
            "packets": packets,
            "cpu_s": cpu_s,
            "packets_per_cpu_s": packets / cpu_s,
            "drops": 0 if load == "high" else packets // 3,
        }
    )


def bench_engine(work, fraction, seed, threads=1):
    transmissions = int(1_000_000 * fraction)
    cpu_s = 0.5
    return json.dumps(
        {
            "work": work,
            "transmissions": transmissions,
            "events": transmissions,
            "cpu_s": cpu_s,
            "wall_s": cpu_s,
            "run_wall_s": cpu_s / threads,
            "trace_hash": "other" if work == "C" and threads > 1 else "same",
            "transmissions_per_cpu_s": transmissions / cpu_s,
            "ns_per_transmission": cpu_s * (3e9 if work == "D" else 1e9) / transmissions,
            "hosts": 128,
            "rest_bytes_per_host": 3_000.0,
            "peak_rss_bytes": 50_000_000,
            "flows_done": 128,
            "drops": 78,
            "simulated_s": 0.003,
        }
    )
