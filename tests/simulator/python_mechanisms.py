"""Mechanisms as Python classes, for the tests: each records what it sees in a list."""

from dataclasses import dataclass, field
from typing import ClassVar

import hitless
from worlds import dumbbell, flows, ideal, tcp, world

BOTTLENECK = ["left->right"]


def two_flows(kind, **settings):
    given = {"kind": kind, "ports": BOTTLENECK, **settings}
    return world(
        "dumbbell",
        dumbbell(2, 2, ("10 Gbps", "2 us"), ("10 Gbps", "10 us")),
        ideal("60 KB", ecn={"threshold": "20 packets"}),
        tcp("dctcp", congestion="dctcp", rto_min="1 ms"),
        flows("long", ["h0", "h1"], ["h2", "h3"], name="bulk", transport="dctcp"),
        {"measure": {"queue": [{"ports": BOTTLENECK, "period": "10 us"}]}},
        {"mechanism": [{name: value for name, value in given.items() if value is not None}]},
        duration="3 ms",
    )


@dataclass
class Ports:
    """Settings with only places."""

    ports: list[str] = field(default_factory=list)


class Watcher(hitless.Mechanism[Ports], kind="watcher-py", queues=1, counters={"seen": "events seen"}):
    """Has every hook, and records what it sees."""

    made: ClassVar = []

    def __init__(self):
        self.seen = []
        self.made.append(self)

    def needs(self, queue_counts):
        [port] = self.ports
        self.own = queue_counts[port]
        every = hitless.HookSet(127)
        return hitless.Needs(
            hooks=[(port, every)], queues=[(port, hitless.QueueConfig(priority=50))], depths=[(port, 0)]
        )

    def rx(self, context):
        self.seen.append(("rx", context.port, context.packet.source))
        return hitless.Verdict.CONTINUE

    def ingress(self, context):
        self.seen.append(("ingress", context.packet.egress_port, context.packet.has_payload))
        return hitless.Verdict.CONTINUE

    def egress(self, context):
        depth = context.queue(context.port, 0)
        self.seen.append(("egress", context.now_ps, (depth.bytes, depth.committed_bytes, context.is_mine)))
        if context.is_mine:
            return hitless.Verdict.drop(hitless.DropReason.CONTROL_ABSORBED)
        if len(self.seen) < 100:
            context.queue(context.port, self.own).mirror(role=7)
        return hitless.Verdict.CONTINUE

    def tx(self, context):
        self.seen.append(("tx", context.now_ps, context.packet.frame_bytes))
        return hitless.Verdict.CONTINUE

    def on_tm_drop(self, reason, context):
        self.seen.append(("on_tm_drop", reason, context.is_last_try))
        return hitless.Verdict.CONTINUE

    def on(self, event, context):
        match event:
            case hitless.Event.Start():
                context.wake_at(1_000_000, 5)
                self.seen.append(("start", context.now_ps, None))
            case hitless.Event.Timer(token=token):
                self.seen.append(("timer", context.now_ps, token))
            case hitless.Event.QueueEmpty(port=port, queue=queue):
                self.seen.append(("queue empty", port, queue))

    def report(self):
        return {"seen": len(self.seen), "port": {"seen": 1}}


class EgressOnly(hitless.Mechanism[Ports], kind="egress-only-py"):
    """Subscribes to all hooks, but defines one."""

    calls = 0

    def needs(self, queue_counts):
        return hitless.Needs(hooks=[(port, hitless.HookSet(127)) for port in self.ports])

    def egress(self, context):
        type(self).calls += 1
        return hitless.Verdict.CONTINUE


class WithQueue(hitless.Mechanism[Ports], kind="with-queue-py", queues=1, depths="own"):
    """Asks for a queue, and for nothing else; reads the depth of its port."""

    made: ClassVar = []

    def __init__(self):
        self.calls, self.deepest_bytes = 0, 0
        self.made.append(self)

    def needs(self, queue_counts):
        return hitless.Needs(queues=[(port, hitless.QueueConfig()) for port in self.ports])

    def egress(self, context):
        self.calls += 1
        self.deepest_bytes = max(self.deepest_bytes, context.queue(context.port, 0).bytes)
        return hitless.Verdict.CONTINUE


@dataclass
class Chance:
    """Settings with a probability."""

    ports: list[str]
    share: float = 0.01

    def __post_init__(self):
        if not 0.0 <= self.share <= 1.0:
            raise ValueError(f"a share is from 0 to 1, and {self.share} is none")


class Coin(hitless.Mechanism[Chance], kind="coin-py"):
    """Drops at random, using its own stream."""

    def ingress(self, context):
        return hitless.Verdict.drop() if self.random.random() < self.settings.share else hitless.Verdict.CONTINUE
