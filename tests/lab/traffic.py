"""Real programs at the ends of a lab, and counters of their kernels."""

import json
import subprocess
import sys
import time

from hitless.lab import traffic as programs
from labs import require_tool

ECHO = """
import socket, sys
with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as here:
    if sys.argv[1] == "serve":
        here.bind(("", 7))
        while True:
            what, who = here.recvfrom(9000)
            here.sendto(what, who)
    size, count, came = int(sys.argv[3]), int(sys.argv[4]), 0
    here.settimeout(float(sys.argv[5]))
    for number in range(count):
        here.sendto(number.to_bytes(4).ljust(size, b"x"), (sys.argv[2], 7))
        try:
            while int.from_bytes(here.recv(9000)[:4]) != number:
                pass
            came += 1
        except TimeoutError:
            pass
    print(came)
"""
"""Answers datagrams; or sends some of a given size to an address, one by one, and prints the number of answers."""
DATAGRAMS = """
import socket, sys
family = socket.AF_INET6 if ":" in sys.argv[1] else socket.AF_INET
with socket.socket(family, socket.SOCK_DGRAM) as here:
    for _ in range(int(sys.argv[2])):
        here.sendto(b"x" * int(sys.argv[3]), (sys.argv[1], 9))
"""


def send(lab, to, count=10, size=100):
    """Send datagrams from h1 to a closed port."""
    lab.run("h1", sys.executable, "-I", "-c", DATAGRAMS, to, count, size)


class Stream:
    """Numbered datagrams from h1 to h2, in a lab or boxes; `received` are the numbers in order of arrival."""

    def __init__(self, hosts, to, count, rate_pps, *, burst=1, payload=1_000):
        self._count = count
        words, pipes = [sys.executable, "-I", programs.__file__], {"stdout": subprocess.PIPE, "text": True}
        self._sink = hosts.start("h2", *words, "udp-sink", '{"port": 9}', stdin=subprocess.PIPE, **pipes)
        assert self._sink.stdout.readline() == "ready\n"
        settings = {"to": to, "port": 9, "sender": 1, "dscp": 0, "bursts": count // burst, "burst": burst}
        settings |= {"payload": payload, "at_ns": time.monotonic_ns() + 300_000_000, "every_s": burst / rate_pps}
        self._source = hosts.start("h1", *words, "udp-send", json.dumps(settings), **pipes)

    def received(self):
        assert json.loads(self._source.communicate(timeout=300)[0])["sent"] == self._count
        arrivals = json.loads(self._sink.communicate("", timeout=300)[0])["arrivals"]
        return [number for _, number in arrivals]


class Iperf:
    """An iperf3 server in h2 and clients in h1."""

    def __init__(self, lab):
        require_tool("iperf3", "iperf3")
        self._lab = lab
        self._server = lab.start("h2", "iperf3", "--server")
        lab.wait_for_port("h2", 5201)

    def measure(self, seconds=3, *more):
        """Return the bits per second that arrived, and the retransmitted segments."""
        words = ["iperf3", "--client", self._lab.address("h2"), "--time", seconds, "--json", *more]
        document = json.loads(self._lab.run("h1", *words).stdout)["end"]
        return document["sum_received"]["bits_per_second"], document["sum_sent"]["retransmits"]

    def start(self, seconds):
        # Use a window that cannot overflow a queue: loss in the card would differ from the loss under test.
        words = ["iperf3", "--client", self._lab.address("h2"), "--time", seconds, "--window", "128K", "--json"]
        return self._lab.start("h1", *words, stdout=subprocess.PIPE, text=True)

    def end(self):
        self._server.kill()
        self._server.wait()


def counters(lab, host):
    """Return the kernel's TCP counters of a host: /proc/net/snmp and /proc/net/netstat."""
    found = {}
    for file in ("/proc/net/snmp", "/proc/net/netstat"):
        lines = lab.run(host, "cat", file).stdout.splitlines()
        for names, values in zip(lines[::2], lines[1::2], strict=True):
            kind = names.partition(":")[0]
            numbers = map(int, values.split()[1:])
            found.update({f"{kind}.{name}": number for name, number in zip(names.split()[1:], numbers, strict=True)})
    return found


class Counted:
    """Increments of a host's counters."""

    def __init__(self, lab, host):
        self._lab, self._host = lab, host
        self._before = counters(lab, host)

    def __getitem__(self, name):
        return counters(self._lab, self._host)[name] - self._before[name]


def settle(lab):
    until = time.monotonic() + 5
    while lab.status()["frames_inside"] and time.monotonic() < until:
        time.sleep(0.05)


def mechanism(lab, counter):
    """Return a counter of the lab's mechanisms, summed over switches."""
    return sum(row[5] for row in lab.status()["mechanisms"] if row[3] == counter)
