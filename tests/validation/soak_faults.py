"""The faults of a soak: one at a time, each undone before the next."""

import subprocess

from hitless.lab import client, control

CORE = ["leaf0<->spine0", "leaf0<->spine1", "leaf1<->spine0", "leaf1<->spine1"]
ONE_WAY = ["leaf0->spine0", "spine1->leaf1", "leaf1->spine0"]


def both_ways(faults):
    link = faults.random.choice(CORE)
    faults.tell(control.Fail, link)
    faults.undo = [(control.Repair, link, {})]


def one_way(faults):
    link = faults.random.choice(ONE_WAY)
    faults.tell(control.Fail, link)
    faults.undo = [(control.Repair, link, {})]


def losing(faults):
    link = faults.random.choice(CORE)
    faults.tell(control.Corrupt, link, rate=faults.random.choice([1e-3, 1e-2, 0.2]))
    faults.undo = [(control.Corrupt, link, {"rate": 0.0})]


def bursts(faults):
    link = faults.random.choice(ONE_WAY)
    faults.tell(control.Corrupt, link, rate=0.02, mean_burst_frames=4.0)
    faults.undo = [(control.Corrupt, link, {"rate": 0.0})]


def protected(faults):
    link = "leaf0->spine0"
    faults.tell(control.Corrupt, link, rate=1e-2)
    faults.tell(control.Protect, link, copies=2)
    faults.undo = [(control.Unprotect, link, {}), (control.Corrupt, link, {"rate": 0.0})]


def flap(faults):
    link = faults.random.choice(CORE)
    for _ in range(2):
        faults.tell(control.Fail, link)
        faults.tell(control.Repair, link)


def unplugged(faults):
    """The carrier of a host that nobody asks anything."""
    namespace = f"hitless.{faults.lab.name}.{faults.idle_host}"
    for state in ("down", "up"):
        subprocess.run(["ip", "-n", namespace, "link", "set", "eth0", state], check=True)


FAULTS = [both_ways, one_way, losing, bursts, protected, flap, unplugged]


class Faults:
    """Draws them."""

    idle_host = "h7"

    def __init__(self, lab, random):
        self.lab = lab
        self.random = random
        self.undo = []
        self.counts = {}

    def one(self):
        """Undo the last fault, and make another."""
        self.mend_all()
        fault = self.random.choice(FAULTS)
        self.counts[fault.__name__] = self.counts.get(fault.__name__, 0) + 1
        fault(self)

    def mend_all(self):
        """Everything works again."""
        undo, self.undo = self.undo, []
        for command, link, values in undo:
            self.tell(command, link, **values)

    def tell(self, command, link, **values):
        """Without a process of its own, which would take longer than a fault lasts."""
        client.ask(self.lab.name, command(link=link, **values))
