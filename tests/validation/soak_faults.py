"""The faults of a soak: one at a time, each undone before the next."""

import subprocess

from hitless.lab import client, control

CORE = ["leaf0<->spine0", "leaf0<->spine1", "leaf1<->spine0", "leaf1<->spine1"]
ONE_WAY = ["leaf0->spine0", "spine1->leaf1", "leaf1->spine0"]


UNDO = {
    control.Fail: (control.Repair, {}),
    control.Corrupt: (control.Corrupt, {"rate": 0.0}),
    control.Protect: (control.Unprotect, {}),
}


def told(*requests, links=CORE):
    """A fault made by requests for one of several links."""

    def make(faults):
        link = faults.random.choice(links)
        for command, values in requests:
            faults.tell(command, link, **values)
            undoing, back = UNDO[command]
            faults.undo.insert(0, (undoing, link, back))

    return make


def flap(faults):
    link = faults.random.choice(CORE)
    for _ in range(2):
        faults.tell(control.Fail, link)
        faults.tell(control.Repair, link)


def unplugged(faults):
    """The carrier of an otherwise unused host."""
    namespace = f"hitless.{faults.lab.name}.{faults.idle_host}"
    for state in ("down", "up"):
        subprocess.run(["ip", "-n", namespace, "link", "set", "eth0", state], check=True)


FAULTS = {
    "both_ways": told((control.Fail, {})),
    "one_way": told((control.Fail, {}), links=ONE_WAY),
    "losing_0.001": told((control.Corrupt, {"rate": 1e-3})),
    "losing_0.01": told((control.Corrupt, {"rate": 1e-2})),
    "losing_0.2": told((control.Corrupt, {"rate": 0.2})),
    "bursts": told((control.Corrupt, {"rate": 0.02, "mean_burst_frames": 4.0}), links=ONE_WAY),
    "protected": told((control.Corrupt, {"rate": 1e-2}), (control.Protect, {"copies": 2}), links=ONE_WAY[:1]),
    "flap": flap,
    "unplugged": unplugged,
}


class Faults:
    """Draws them."""

    idle_host = "h7"

    def __init__(self, lab, random):
        self.lab = lab
        self.random = random
        self.undo = []
        self.counts = {}

    def one(self):
        self.mend_all()
        name = self.random.choice(list(FAULTS))
        self.counts[name] = self.counts.get(name, 0) + 1
        FAULTS[name](self)

    def mend_all(self):
        undo, self.undo = self.undo, []
        for command, link, values in undo:
            self.tell(command, link, **values)

    def tell(self, command, link, **values):
        """Send it without a separate process, which would take longer than a fault lasts."""
        client.ask(self.lab.name, command(link=link, **values))
