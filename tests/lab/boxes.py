"""Boxes and cables for `hitless switch` and `hitless link`: namespaces with veths between them, made by the test."""

import os
import subprocess
import sys
import uuid
from pathlib import Path

PROGRAM = Path(sys.executable).with_name("hitless")


def ip(*words):
    subprocess.run(["ip", *map(str, words)], check=True, capture_output=True)


class Boxes:
    """Names are the test's own; what was made goes with `clear`."""

    def __init__(self):
        self._prefix = f"hlt{os.getpid()}{uuid.uuid4().hex[:4]}"
        self._names = []
        self._processes = []

    def box(self, name):
        ip("netns", "add", self.namespace(name))
        self._names.append(name)
        ip("-n", self.namespace(name), "link", "set", "lo", "up")

    def namespace(self, name):
        return f"{self._prefix}.{name}"

    def cable(self, box, interface, other, other_interface, mtu=1500):
        peer = ["peer", "name", other_interface, "mtu", mtu, "netns", self.namespace(other)]
        ip("-n", self.namespace(box), "link", "add", interface, "mtu", mtu, "type", "veth", *peer)
        for name, end in ((box, interface), (other, other_interface)):
            sysctl = f"/proc/sys/net/ipv6/conf/{end}/disable_ipv6"
            self.run(name, "sh", "-c", f"echo 1 > {sysctl}", check=False)
            ip("-n", self.namespace(name), "link", "set", end, "up")

    def address(self, box, interface, address):
        ip("-n", self.namespace(box), "address", "add", f"{address}/24", "dev", interface)
        code = f"from hitless.live import NetworkInterface; NetworkInterface({interface!r}).switch_off_offloads()"
        self.run(box, PROGRAM.with_name("python"), "-c", code)

    def run(self, box, *words, check=True, timeout=120, **more):
        command = ["ip", "netns", "exec", self.namespace(box), *map(str, words)]
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=timeout, **more)
        assert not check or done.returncode == 0, done
        return done

    def start(self, box, *words, **more):
        command = ["ip", "netns", "exec", self.namespace(box), *map(str, words)]
        process = subprocess.Popen(command, **{"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, **more})
        self._processes.append(process)
        return process

    def clear(self):
        for process in self._processes:
            process.kill()
            process.wait()
        for name in self._names:
            ip("netns", "delete", self.namespace(name))
