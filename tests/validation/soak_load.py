"""The work of a soak: iperf3, redis and small requests in a lab, and numbered datagrams over a link."""

import contextlib
import json
import subprocess
import sys
import time

REQUESTS = """
import json, signal, socket, sys, time
is_over = []
signal.signal(signal.SIGTERM, lambda *_: is_over.append(1))
with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as here:
    if sys.argv[1] == "serve":
        here.bind(("", 7))
        while True:
            what, who = here.recvfrom(2000)
            here.sendto(what, who)
    here.settimeout(0.2)
    sent = answered = 0
    while not is_over:
        sent += 1
        here.sendto(sent.to_bytes(4), (sys.argv[2], 7))
        try:
            while int.from_bytes(here.recv(2000)) != sent:
                pass
            answered += 1
        except TimeoutError:
            pass
        time.sleep(0.01)
print(json.dumps({"sent": sent, "answered": answered}))
"""
NUMBERED = """
import json, socket, sys, time
port, count, rate = 9, int(sys.argv[3]), float(sys.argv[4])
with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as here:
    if sys.argv[1] == "serve":
        here.setsockopt(socket.SOL_SOCKET, 33, 1 << 25)
        here.bind(("", port))
        here.settimeout(10)
        seen, expected, twice, late = bytearray(count), 0, 0, 0
        print("ready", flush=True)
        try:
            while True:
                number = int.from_bytes(here.recv(2000)[:8])
                twice += seen[number]
                late += number < expected
                seen[number] = 1
                expected = max(expected, number + 1)
        except TimeoutError:
            print(json.dumps({"lost": count - sum(seen), "twice": twice, "out of order": late}))
        sys.exit()
    began = time.monotonic()
    for number in range(count):
        here.sendto(number.to_bytes(8).ljust(200, b"x"), (sys.argv[2], port))
        if number % 16 == 0:
            time.sleep(max(0.0, began + number / rate - time.monotonic()))
"""


class Load:
    """Programs in the lab's hosts; those that end are restarted."""

    def __init__(self, lab):
        self._lab = lab
        self._served = [
            lab.start("h4", "iperf3", "--server"),
            lab.start("h5", "redis-server", "--save", "", "--port", "6379", "--protected-mode", "no"),
            lab.start("h6", sys.executable, "-I", "-c", REQUESTS, "serve"),
        ]
        lab.wait_for_port("h4", 5201)
        lab.wait_for_port("h5", 6379)
        self._asking = lab.start(
            "h2", sys.executable, "-I", "-c", REQUESTS, "ask", lab.address("h6"), stdout=subprocess.PIPE, text=True
        )
        self._runs = {"iperf3": None, "redis": None}
        self.counts = {"iperf3": 0, "redis": 0, "ended badly": 0}

    def keep_going(self):
        for name, words in self._words().items():
            run = self._runs[name]
            if run is None or run.poll() is not None:
                self.counts[name] += run is not None
                self.counts["ended badly"] += run is not None and run.returncode != 0
                self._runs[name] = self._lab.start({"iperf3": "h0", "redis": "h1"}[name], *words)

    def _words(self):
        address = self._lab.address
        return {
            "iperf3": ["iperf3", "--client", address("h4"), "--time", "20", "--bitrate", "8M"],
            "redis": ["redis-benchmark", "-h", address("h5"), "-n", "500", "-c", "4", "-q", "-t", "set,get"],
        }

    def end(self):
        self._asking.terminate()
        told, _ = self._asking.communicate(timeout=30)
        return {**self.counts, "requests": json.loads(told)}

    def clear(self):
        for process in (*self._served, self._asking, *self._runs.values()):
            with contextlib.suppress(AttributeError, ProcessLookupError):
                process.kill()
                process.wait()

    @staticmethod
    def numbered(boxes, count, per_s):
        """Send numbered datagrams from h1 to h2 at a rate; return how many arrived, twice, out of order."""
        # A sender that moves to the other processor leaves frames in the kernel's queue of the first one.
        words = ["taskset", "--cpu-list", "0", sys.executable, "-I", "-c", NUMBERED]
        sink = boxes.start("h2", *words, "serve", "", count, per_s, stdout=subprocess.PIPE, text=True)
        assert sink.stdout.readline() == "ready\n"
        # Address resolution, and the first numbers of the link.
        boxes.run("h1", *words, "ask", "10.9.0.2", 0, per_s)
        time.sleep(0.5)
        boxes.run("h1", *words, "ask", "10.9.0.2", count, per_s, timeout=None)
        told, _ = sink.communicate(timeout=60)
        return {"frames": count, **json.loads(told)}
