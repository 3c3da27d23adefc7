"""Boxes and cables for `hitless switch` and `hitless link`: namespaces with veths between them, made by the test."""

import os
import signal
import subprocess
import uuid

from labs import Spaces, chain, losing
from waiting import wait_until
from warm import PROGRAM


def ip(*words):
    subprocess.run(["ip", *map(str, words)], check=True, capture_output=True)


class Boxes(Spaces):
    """Boxes with unique names; `clear` removes everything."""

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

    def one_box(self, mtu=1500):
        """Make h1 - box - h2, on port1 and port2 of the box."""
        for name in ("box", "h1", "h2"):
            self.box(name)
        for number in (1, 2):
            self.cable("box", f"port{number}", f"h{number}", "eth0", mtu=mtu)
            self.address(f"h{number}", "eth0", f"10.9.0.{number}")

    def offloads_on(self, box, interface):
        """Switch segmentation on again, as on a host that nobody has prepared."""
        code = "import sys; from hitless.live.ports import switch_on; switch_on(sys.argv[1], sys.argv[2:])"
        names = ["tx-tcp-segmentation", "tx-tcp6-segmentation", "tx-generic-segmentation", "tx-udp-segmentation"]
        names += ["tx-checksum-ip-generic"]
        self.run(box, PROGRAM.with_name("python"), "-c", code, interface, *names)

    def two_boxes(self):
        """Make h1 - left, right - h2, on an interface "inside" of each box; the link between them is added later."""
        for name in ("h1", "left", "right", "h2"):
            self.box(name)
        for number, name in ((1, "left"), (2, "right")):
            self.cable(name, "inside", f"h{number}", "eth0")
            self.address(f"h{number}", "eth0", f"10.9.0.{number}")

    def wire(self, mtu=1600):
        """Make left - wire - right, on their interfaces "outside"."""
        self.box("wire")
        for number, name in ((1, "left"), (2, "right")):
            self.cable(name, "outside", "wire", f"wire{number}", mtu=mtu)

    def bridged_wire(self, mtu=1600):
        """Make left - wire - right with a bridge in the wire, which drops frames longer than its ports' MTU."""
        self.wire(mtu)
        ip("-n", self.namespace("wire"), "link", "add", "br0", "type", "bridge")
        for name in ("wire1", "wire2"):
            ip("-n", self.namespace("wire"), "link", "set", name, "master", "br0")
        ip("-n", self.namespace("wire"), "link", "set", "br0", "up")

    def start(self, name, *command, **more):
        self._processes.append(super().start(name, *command, **more))
        return self._processes[-1]

    def clear(self):
        for process in self._processes:
            process.kill()
            process.wait()
        for name in self._names:
            ip("netns", "delete", self.namespace(name))


class Running:
    """A command of hitless in a box, with its output in a log."""

    def __init__(self, boxes, folder, box, *words, first=(), **more):
        self.log = folder / f"{box}.log"
        with self.log.open("wb") as file:
            self.process = boxes.start(box, *first, PROGRAM, *words, stderr=file, **more)

    def wait_for(self, text):
        wait_until(lambda: text in self.log.read_text(), process=self.process, log=self.log)

    def end(self, number=signal.SIGTERM):
        self.process.send_signal(number)
        return self.process.wait(timeout=300)


def switch_file(folder, name="switch", port="port", metrics_port=0):
    """Write the configuration of a switch with the hosts of chain.toml on two interfaces."""
    file = folder / f"{name}.toml"
    interfaces = "".join(f'[[interface]]\nnode = "h{number}"\nname = "{port}{number}"\n' for number in (1, 2))
    file.write_text(f'[switch]\nscenario = "chain.toml"\n[metrics]\nport = {metrics_port}\n{interfaces}')
    return file


def lossy_wire(boxes, folder, loss_rate, rate="200 Mbps", first=()):
    """Run a switch between left and right that loses a share of the frames in both directions."""
    boxes.wire()
    chain(folder, rate, losing(loss_rate, "sw1->sw2", "sw2->sw1"))
    wire = Running(boxes, folder, "wire", "switch", switch_file(folder, "wire", "wire"), first=first)
    wire.wait_for("h2 is behind wire2")
    return wire


def link_end(boxes, folder, box, *more, loss_rate=0.05, first=()):
    words = [
        "link",
        "--inside",
        "inside",
        "--outside",
        "outside",
        "--rate",
        "100 Mbps",
        "--loss-rate",
        loss_rate,
        *more,
    ]
    end = Running(boxes, folder, box, *words, first=first)
    end.wait_for("Ctrl-C ends it")
    return end


def link_ends(boxes, folder, *more, **settings):
    """Run `hitless link` in left and right, until both forward."""
    ends = [link_end(boxes, folder, box, *more, **settings) for box in ("left", "right")]
    for end in ends:
        end.wait_for("the other end answers")
    return ends
