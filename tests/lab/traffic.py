"""Real programs at the ends of a lab, and what the kernels there have counted."""

import json
import subprocess
import time

from labs import require_tool

RECEIVE = """
import socket, sys, time
with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as here:
    # SO_RCVBUFFORCE: more than rmem_max, so that a pause of this program loses nothing.
    here.setsockopt(socket.SOL_SOCKET, 33, 1 << 23)
    here.bind(("", 9))
    print("ready", flush=True)
    here.settimeout(60)
    while (what := here.recv(2000)) != b"end":
        print(int.from_bytes(what[:8]))
        here.settimeout(10)
"""
SEND = """
import socket, sys, time
to, count, rate = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])
with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as here:
    began = time.monotonic()
    for number in range(count):
        here.sendto(number.to_bytes(8).ljust(1000), (to, 9))
        time.sleep(max(0.0, began + number / rate - time.monotonic()))
    time.sleep(0.5)
    for _ in range(3):
        here.sendto(b"end", (to, 9))
"""


class Stream:
    """Numbered datagrams from h1 to h2; `received` are the numbers in the order in which they came."""

    def __init__(self, lab, count, rate_pps):
        self.count = count
        self._receiver = lab.start("h2", "python3", "-c", RECEIVE, stdout=subprocess.PIPE, text=True)
        assert self._receiver.stdout.readline() == "ready\n"
        self._sender = lab.start("h1", "python3", "-c", SEND, lab.address("h2"), count, rate_pps)

    def received(self):
        numbers = [int(line) for line in self._receiver.communicate(timeout=120)[0].split()]
        assert self._sender.wait(timeout=300) == 0
        return numbers


class Iperf:
    """An iperf3 server in h2 and clients in h1."""

    def __init__(self, lab):
        require_tool("iperf3", "iperf3")
        self._lab = lab
        self._server = lab.start("h2", "iperf3", "--server")
        lab.wait_for_port("h2", 5201)

    def measure(self, seconds=3, *more):
        """Bits per second that arrived, and segments that were sent again."""
        words = ["iperf3", "--client", self._lab.address("h2"), "--time", seconds, "--json", *more]
        document = json.loads(self._lab.run("h1", *words).stdout)["end"]
        return document["sum_received"]["bits_per_second"], document["sum_sent"]["retransmits"]

    def start(self, seconds):
        # A window that fills no queue: a card that overflows would be another loss than the one looked for.
        words = ["iperf3", "--client", self._lab.address("h2"), "--time", seconds, "--window", "128K", "--json"]
        return self._lab.start("h1", *words, stdout=subprocess.PIPE, text=True)

    def end(self):
        self._server.kill()
        self._server.wait()


def counters(lab, host):
    """What the kernel of a host has counted of TCP: /proc/net/snmp and /proc/net/netstat."""
    found = {}
    for file in ("/proc/net/snmp", "/proc/net/netstat"):
        lines = lab.run(host, "cat", file).stdout.splitlines()
        for names, values in zip(lines[::2], lines[1::2], strict=True):
            kind = names.partition(":")[0]
            numbers = map(int, values.split()[1:])
            found.update({f"{kind}.{name}": number for name, number in zip(names.split()[1:], numbers, strict=True)})
    return found


class Counted:
    """What the counters of a host rose by."""

    def __init__(self, lab, host):
        self._lab, self._host = lab, host
        self._before = counters(lab, host)

    def __getitem__(self, name):
        return counters(self._lab, self._host)[name] - self._before[name]


def settle(lab):
    """Until nothing is under way any more."""
    for _ in range(100):
        if lab.status()["frames_inside"] == 0:
            return
        time.sleep(0.05)


def mechanism(lab, counter):
    """A counter of the lab's mechanisms, summed over switches."""
    return sum(row[4] for row in lab.status()["mechanisms"] if row[3] == counter)
