"""The simulator (crates/python)."""

from collections.abc import Callable, Sequence
from os import PathLike
from typing import ClassVar, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

Column: TypeAlias = NDArray[np.uint64] | NDArray[np.int64] | NDArray[np.float64] | list[str]

class ScenarioError(Exception):
    """A scenario that cannot be run; the text is complete and for people."""

class SimulationError(Exception):
    """A run that broke one of its own checks."""

class CheckpointError(Exception):
    """A run that can write no checkpoint, or cannot go on from one; the text says why."""

class Cancelled(Exception):
    """The run was ended early by `Simulation.cancel`."""

class Checkpoints:
    """The file of a run's newest checkpoint: written every so much of the wall clock, or of the simulated one."""

    def __init__(
        self,
        path: str | PathLike[str],
        program: str,
        *,
        wall_s: float | None = None,
        simulated_ps: int | None = None,
        resumes: bool = False,
    ) -> None:
        """``program`` tells this build from another; with ``resumes`` the run goes on from the file."""

class Simulation:
    """One simulation: made from a scenario's text, run once, read afterwards."""

    def __init__(
        self, text: str, file_name: str, seed: int | None = None, keeps_rows: bool = True, threads: int = 1
    ) -> None: ...
    def run(
        self,
        threads: int = 1,
        rows: Callable[[str, dict[str, Column]], None] | None = None,
        checkpoints: Checkpoints | None = None,
    ) -> None:
        """Run to the end on up to so many threads; other threads run meanwhile.

        Flows and messages go to ``rows`` as they are known for good, table name and columns, and are in no table. With
        ``checkpoints`` the run is on one thread, and hands over no rows.
        """

    def checkpoint_refusal(self) -> str | None:
        """Why a run of it could write no checkpoints; None: it could."""

    def stop(self) -> None:
        """Ask a run under way to end with the results that it has; its summary then says ``incomplete``."""

    def cancel(self) -> None:
        """Ask a run under way, from another thread, to end with `Cancelled`."""

    @property
    def progress(self) -> float:
        """Share of the simulated time that has passed, 0 to 1; readable from another thread."""

    @property
    def summary(self) -> str:
        """A JSON object; see `hitless.simulation.Summary`."""

    @property
    def tables(self) -> dict[str, dict[str, Column]]:
        """Table name -> column name -> values."""

    @property
    def effective(self) -> str:
        """The scenario as TOML with every default spelled out."""

class TrafficEnds:
    """A generator at one interface and a sink at another one, each (network namespace, interface)."""

    def __init__(self, source: tuple[str, str], sink: tuple[str, str], *, ring_frames: int = 65_536) -> None:
        """Open both. Raises OSError with the reason."""

    def stream(
        self,
        *,
        frame_bytes: int = 64,
        rate_pps: float | None = None,
        duration_s: float = 1.0,
        generator_cpu: int | None = None,
        sink_cpu: int | None = None,
    ) -> str:
        """Send frames of ``frame_bytes`` (check sequence included); answer what arrived, as a JSON object.

        Without ``rate_pps`` as fast as possible.
        """

class PlainForwarder:
    """Hands every frame of one interface to another one, and back: ports without a switch."""

    def __init__(self, namespace: str, left: str, right: str, *, mode: str = "packet") -> None:
        """Open both in a network namespace. Raises OSError with the reason."""

    @property
    def modes(self) -> tuple[str, str]:
        """How frames cross at either interface: what was obtained."""

    def run(self, *, cpu: int | None = None) -> str:
        """Forward until `stop`, on one processor; answer the counters of both, as a JSON list. Once."""

    def stop(self) -> None:
        """Ask it to end."""

def switch_off_offloads_in(namespace: str, interface: str) -> list[str]:
    """Switch off the offloads of an interface that change frames; return those that are still on."""

class NetworkInterface:
    """An Ethernet interface of the network namespace of the thread that makes this.

    Everything raises OSError with a complete message: when there is no such interface, when it is gone, without
    CAP_NET_ADMIN.
    """

    def __init__(self, name: str) -> None: ...
    @property
    def mtu_bytes(self) -> int:
        """The most bytes of a frame behind addresses and type."""

    def set_mtu_bytes(self, mtu_bytes: int) -> None:
        """Set the MTU; a port must be opened after that."""

    def set_up(self, up: bool) -> None:
        """Switch it on or off."""

    @property
    def carrier(self) -> Literal["off", "lost", "present"]:
        """Whether frames can cross now."""

    def switch_off_offloads(self) -> tuple[list[str], list[str]]:
        """Switch off those that change frames: which are off now and were on, and which stay on."""

    def switch_on_offloads(self, names: list[str]) -> None:
        """Switch these on again."""

class Session:
    """A scenario run in steps: it stops where it is told to, shows counters, and takes commands."""

    def __init__(self, text: str, file_name: str, seed: int | None = None) -> None: ...
    @property
    def now_ps(self) -> int:
        """The simulated time up to which it has run."""

    def advance(self, until_ps: int) -> bool:
        """Run up to ``until_ps``, what is due then left to come; False when the run has ended."""

    def receive_counters(self, link: str) -> tuple[int, int]:
        """Good frames, and all frames, that the MAC behind ``link`` has counted."""

    def protect(self, link: str, end: str, copies: int, mode: str) -> None:
        """Have the "sender" or "receiver" end of ``link`` protect it; ``mode`` is "blocking" or "non-blocking"."""

    def unprotect(self, link: str, end: str) -> None:
        """Have one end of ``link`` stop protecting it."""

    def fail(self, link: str) -> None:
        """Take ``link`` down, "a->b" or "a<->b"."""

    def repair(self, link: str) -> None:
        """Bring ``link`` up again."""

    def corrupt(self, link: str, rate: float, mean_burst_frames: float | None = None) -> None:
        """Corrupt a share of the frames of ``link``, independently or in bursts of a mean length."""

    def queues(self) -> dict[str, Column]:
        """Bytes that wait at the ports of switches: "port" and "value_bytes"."""

    def mechanisms(self) -> dict[str, Column]:
        """The table "mechanisms" of this moment."""

    def finish(self) -> tuple[str, dict[str, dict[str, Column]]]:
        """Run to the end: the summary as JSON text, and the tables. Once."""

class Live:
    """The fabric of a scenario under the wall clock, between real interfaces.

    Made, run once (in a thread of its own), and read afterwards. The flows of the scenario do not run: real programs
    send. `run` may be called from one thread while others call the rest.
    """

    def __init__(
        self,
        text: str,
        file_name: str,
        interfaces: dict[str, str],
        *,
        seed: int | None = None,
        stations: dict[str, str] | None = None,
        slack_us: float = 1000.0,
        busy_poll: bool = False,
        spin_us: float = 50.0,
        frames: int = 8192,
        frame_bytes: int = 2048,
        ring_frames: int = 1024,
        record: str | PathLike[str] | None = None,
        record_frame_bytes: int | None = None,
        record_decisions: bool = True,
        mode: str = "packet",
        self_test: bool = True,
    ) -> None:
        """Read the scenario and open the interfaces, in the network namespace of the calling thread.

        ``interfaces``: node (host, or switch that runs elsewhere; a link "sw1->sw2" where several lead to that switch)
        -> interface. ``stations``: Ethernet address -> node of ``interfaces``, for those that are known; others are
        learned. ``slack_us``: later than this is a missed deadline. ``busy_poll``: never sleep. ``spin_us``: wait awake
        for events nearer than this. ``frames``, ``frame_bytes``: the pool of frames. ``ring_frames``: of the rings.
        ``record``: a file for `live_replay`; ``record_frame_bytes``: keep so much of each frame and a hash of the rest.
        ``self_test``: measure for 50 ms first what the machine can do; `status` shows it.
        ``mode``: how frames cross to the kernel: "packet", "xdp", "xdp-zero-copy", "xdp-copy", "xdp-generic" or "auto".

        Raises `ScenarioError`, or OSError for an interface that cannot be opened.
        """

    def run(self, duration_s: float | None = None) -> None:
        """Run until `stop`, or for ``duration_s``; other threads run meanwhile. Raises `SimulationError`."""

    def stop(self) -> None:
        """Ask the run to end."""

    def status(self) -> str:
        """How things are (after the run: were at its end), as a JSON object; see crates/live/src/status.rs."""

    def command(self, text: str) -> None:
        """Carry out a command; ValueError when it cannot be.

        "fail LINK", "repair LINK", "corrupt LINK RATE", "protect LINK COPIES blocking|non-blocking" or "unprotect
        LINK", where LINK is "a->b" or "a<->b".
        """

    def notices(self) -> list[tuple[str, str, bool, str]]:
        """What has become of interfaces since the last call: node, interface, is it back, and why it is not."""

    @property
    def is_over(self) -> bool:
        """Has the run ended, well or not?"""

    @property
    def recording(self) -> str | None:
        """Arrivals and decisions recorded, and why the recording was cut if it was, as a JSON object."""

    @property
    def summary(self) -> str:
        """A JSON object, as of a simulation."""

    @property
    def tables(self) -> dict[str, dict[str, Column]]:
        """Table name -> column name -> values, as of a simulation."""

    @property
    def effective(self) -> str:
        """The scenario as TOML with every default spelled out."""

def live_replay(path: str | PathLike[str], other: str | None = None) -> str:
    """Repeat a recorded live run in simulation: arrivals, equal decisions and the first that differs, as a JSON object.

    ``other``: the text of a scenario whose switches get the frames, and what becomes of packets is compared.

    Raises OSError, ValueError for what is no recording, and `SimulationError`.
    """

def p4_test(document: str, tests: str, name: str) -> str:
    """Run STF packet tests on a program as p4c writes it for BMv2; JSON. Raises ValueError with the reason."""

def p4_trace(
    document: str,
    commands: tuple[str, str],
    runtime: tuple[tuple[str, str], tuple[str, str]] | None,
    port: int,
    packet: bytes,
) -> str:
    """The way of one packet after entries; JSON. Files are name and text: commands, and p4info with request.

    Raises ValueError with the reason.
    """

def p4_bench(
    document: str,
    commands: tuple[str, str],
    runtime: tuple[tuple[str, str], tuple[str, str]] | None,
    port: int,
    packet: bytes,
    packets: int,
) -> str:
    """CPU seconds that so many packets take; JSON. Raises ValueError with the reason."""

def deflection_relative_priorities(ranks: list[int], window: int, queue_packets: int) -> list[tuple[float, float]]:
    """Of packets that enter a queue one after the other: by quantile, and by the exponential distribution."""

def deflection_scan_counts(
    full_probabilities: list[float], draws: int, seed: int, start: Literal["uniform", "five-bit"]
) -> tuple[list[int], int]:
    """How often each port is the first that is not full from a random start on, and how often none is free."""

def linkguardian_copies(actual_loss_rate: float, target_loss_rate: float) -> int:
    """Copies that LinkGuardian retransmits of each lost packet: Equation 2, rounded up."""

def link_inner_mtu(outer_mtu: int, vlan_tags: int) -> int | None:
    """The MTU for hosts whose frames cross a protected link of MTU ``outer_mtu``; None when nothing is left."""

def link_outer_mtu(inner_mtu: int, vlan_tags: int) -> int:
    """The MTU that a protected link needs for hosts with MTU ``inner_mtu``."""

def size_table(name: str) -> list[tuple[float, float]] | None:
    """A distribution of flow sizes that comes with the program, by points: bytes, and the share of flows up to them."""

class FleetError(Exception):
    """Refused input of the fleet simulator; its arguments are what is wrong, where, and a hint."""

class FleetTopology:
    """Switches in tiers: a shape by name, or the text of a file."""

    def __init__(self, text: str, file_name: str | None = None) -> None: ...
    @staticmethod
    def is_spec(text: str) -> bool:
        """Does the text name a shape, rather than a file?"""

    @property
    def links(self) -> int:
        """Number of links."""

class FleetTrace:
    """Failures of the links of a topology."""

    @staticmethod
    def generate(
        topology: FleetTopology,
        seed: int,
        mean_hours: float,
        weibull_shape: float,
        duration_hours: int,
    ) -> FleetTrace:
        """Draw a trace."""

    @staticmethod
    def read(text: str, file_name: str, topology: FleetTopology | None) -> FleetTrace:
        """Read the published format, for a topology or that which the file names."""

    def to_json(self) -> str:
        """The trace in the published format."""

    def columns(self) -> dict[str, Column]:
        """Column name -> values, a row for each failure."""

    @property
    def name(self) -> str:
        """What it is called."""

    @property
    def span_s(self) -> tuple[int, int] | None:
        """The seconds of the first and of the last failure; None without failures."""

    @property
    def topology(self) -> FleetTopology:
        """The topology whose links fail."""

class FleetYear:
    """One year: made from a trace and a policy, run once, read afterwards."""

    def __init__(
        self,
        trace: FleetTrace,
        policy: str,
        capacity: float,
        deployment: float = 1.0,
        seed: int = 1,
        repairs: tuple[str, str] | None = None,
    ) -> None: ...
    def run(self) -> None:
        """Run to the end; other threads run meanwhile."""

    def cancel(self) -> None:
        """Ask a run under way, from another thread, to end with `Cancelled`."""

    @property
    def progress(self) -> float:
        """Share of the known events that are done, 0 to 1; readable from another thread."""

    def states(self) -> dict[str, Column]:
        """The state after each event in the published columns, the first before any event."""

    def published_rows(self) -> dict[str, Column]:
        """The rows that the published simulator writes."""

    def repairs(self) -> str:
        """The repairs as the text of a file."""

    def counts(self) -> tuple[int, int, int]:
        """Failures in the trace, failures of links that were down, and links taken down."""

def fleet_policies() -> list[str]:
    """The names of all policies."""

def fleet_policy_protects(name: str) -> bool:
    """Does the policy run LinkGuardian? Raises `FleetError` where there is none of that name."""

def version() -> str:
    """Version of the simulator and of this package."""

def memory_limit(root: str | PathLike[str] = "/") -> int | None:
    """Return the minimum of all memory limits of a run, in bytes. ``root`` contains proc and sys."""

def mechanism_kinds() -> list[tuple[str, str, str | None]]:
    """The kinds of mechanisms: name, a sentence, and the crate of a user's that it comes from."""

def scenario_schema(format: Literal["text", "json"]) -> str:  # noqa: A002
    """Every field of a scenario file, for people or as JSON Schema."""

def scenario_examples() -> list[tuple[str, str]]:
    """Name and one-line description of each example scenario."""

def scenario_example(name: str) -> str | None:
    """Text of an example scenario; None when there is none of that name."""

def scenario_check(text: str, file_name: str, keeps_rows: bool = True, threads: int = 1) -> str:
    """The scenario with every default spelled out; raises `ScenarioError`."""

def scenario_memory(
    text: str, file_name: str, keeps_rows: bool = True, threads: int = 1
) -> tuple[float, list[tuple[str, str, float]]]:
    """Bytes that a run is estimated to take, and by part: field, what it is, bytes; the largest first."""

def scenario_resources(text: str, file_name: str) -> str:
    """What mechanisms take of each kind of switch, as a JSON list; raises `ScenarioError`."""

def bench_switch(discipline: str, load: str, fraction: float, seed: int) -> str:
    """Run a discipline in one switch under "high" load or "over" it; measurements as a JSON object."""

def bench_switch_disciplines() -> list[tuple[str, str]]:
    """Disciplines and mechanisms that `bench_switch` knows, each with what it is compared with."""

def scenario_check_live(text: str, file_name: str) -> tuple[str, str]:
    """The same for a live run, which needs neither flows nor an end; then its fabric as a JSON object."""

def bench_engine(work: str, fraction: float, seed: int, threads: int = 1) -> str:
    """Run a benchmark workload with a fraction of each flow's packets; measurements as a JSON object."""

class MechanismError(Exception):
    """A mechanism that is a class of Python raised an error, which is the cause of this."""

class Ecn:
    """The ECN field of a packet."""

    NOT_CAPABLE: ClassVar[Ecn]
    CAPABLE: ClassVar[Ecn]
    CONGESTION_EXPERIENCED: ClassVar[Ecn]

class DropReason:
    """Why a packet ends in a switch. By those from DUPLICATE on nothing is lost."""

    QUEUE_FULL: ClassVar[DropReason]
    BUFFER_FULL: ClassVar[DropReason]
    NO_ROUTE: ClassVar[DropReason]
    TIME_TO_LIVE: ClassVar[DropReason]
    MECHANISM: ClassVar[DropReason]
    EVICTED: ClassVar[DropReason]
    QUEUEING_DELAY: ClassVar[DropReason]
    NOWHERE: ClassVar[DropReason]
    DUPLICATE: ClassVar[DropReason]
    COPY_RETIRED: ClassVar[DropReason]
    CONTROL_ABSORBED: ClassVar[DropReason]
    OUT_OF_SEQUENCE: ClassVar[DropReason]

class Verdict:
    """What a hook decides about the packet before it."""

    CONTINUE: ClassVar[Verdict]
    """It goes on its way."""

    @staticmethod
    def forward(port: int, queue: int) -> Verdict:
        """It goes to that queue at once; the remaining hooks of this half are skipped."""

    @staticmethod
    def hold(port: int, queue: int, duration_ps: int) -> Verdict:
        """As `forward`, to a queue that keeps the packet for a time before it may be served. From egress only."""

    @staticmethod
    def drop(reason: DropReason = ...) -> Verdict:
        """It ends here: a loss (MECHANISM), if nothing else is said."""

class Event:
    """Something that a mechanism is told beside the way of packets."""

    class Start(Event):
        """The control plane's start."""

    class Timer(Event):
        """A timer of `Context.wake_at` has run out."""

        __match_args__ = ("token",)
        @property
        def token(self) -> int: ...

    class QueueEmpty(Event):
        """A queue has just been emptied."""

        __match_args__ = ("port", "queue")
        @property
        def port(self) -> int: ...
        @property
        def queue(self) -> int: ...

    class PortState(Event):
        """A port has changed its state: its link is whole, or another port is the way of its packets, or none is."""

        __match_args__ = ("port", "is_up", "backup")
        @property
        def port(self) -> int: ...
        @property
        def is_up(self) -> bool: ...
        @property
        def backup(self) -> int | None: ...

    class FcsError(Event):
        """A frame with a bad check sequence has come in."""

        __match_args__ = ("port",)
        @property
        def port(self) -> int: ...

    class OrderedSet(Event):
        """The partner of a port has sent a control ordered set."""

        __match_args__ = ("port",)
        @property
        def port(self) -> int: ...

    class Command(Event):
        """A command of the control plane."""

        __match_args__ = ("number",)
        @property
        def number(self) -> int: ...

class Packet:
    """The descriptor of a packet. That of `Context.packet` is good for one hook; `copy` it to keep it."""

    traffic_class: int
    """0 to 7."""

    def __init__(self, frame_bytes: int, *, source: int = 0, destination: int = 0, traffic_class: int = 0) -> None: ...
    def copy(self) -> Packet:
        """Another like it."""

    @property
    def frame_bytes(self) -> int:
        """Length of the frame with its check sequence and all headers of mechanisms."""

    @property
    def flow(self) -> int: ...
    @property
    def source(self) -> int:
        """The number of a host."""

    @property
    def destination(self) -> int:
        """The number of a host."""

    @property
    def flow_hash(self) -> int:
        """Hash of the 5-tuple."""

    @property
    def ingress_port(self) -> int: ...
    @property
    def egress_port(self) -> int: ...
    @property
    def queue(self) -> int:
        """The queue of the egress port."""

    @property
    def ecn(self) -> Ecn: ...
    @property
    def ttl(self) -> int: ...
    @property
    def role(self) -> int:
        """What it is to its owner."""

    @property
    def urgency(self) -> int:
        """The smaller the sooner."""

    @property
    def has_payload(self) -> bool:
        """Whether it carries data of its flow."""

    @property
    def is_trimmed(self) -> bool: ...
    @property
    def is_link_retransmission(self) -> bool:
        """Whether a retransmission on the last link has sent it."""

    @property
    def is_congestion_notice(self) -> bool: ...
    def mark_congestion(self) -> bool:
        """Mark congestion experienced; False when its transport does not know ECN."""

    def trim(self, frame_bytes: int) -> bool:
        """Cut it to a header of so many bytes; False when its receiver would not understand that."""

class QueueAccess:
    """A queue of any port. All but depths needs a port with a queue of the mechanism's or a hook behind the queues."""

    @property
    def bytes(self) -> int:
        """Waiting in the queue, as it was before the hook. Asked for in `hitless.Needs.depths`."""

    @property
    def committed_bytes(self) -> int:
        """Waiting, in transmission and on their way to the queue. Asked for in `hitless.Needs.depths`."""

    def mirror(self, role: int, copy: Packet | None = None) -> None:
        """Send a copy of the packet as it is now, or this ``copy`` of it, owned by the mechanism in ``role``."""

    def emit(self, packet: Packet, role: int) -> None:
        """Send a packet that the mechanism made, owned by it in ``role``."""

    def pause(self) -> None:
        """Stop the queue."""

    def resume(self, delay_ps: int = 0) -> None:
        """Let the queue go on."""

class Context:
    """What a hook sees, and may ask of its switch. It is good for one call."""

    @property
    def now_ps(self) -> int: ...
    @property
    def port(self) -> int:
        """In ingress the port by which the packet came, in egress the port by which it leaves."""

    @property
    def packet(self) -> Packet:
        """The packet; what is changed of it is changed when the hook returns."""

    @property
    def is_last_try(self) -> bool:
        """Whether the packet, which the traffic manager drops, ends whatever the hook returns."""

    @property
    def is_mine(self) -> bool:
        """Whether the packet belongs to this mechanism."""

    def adopt(self, role: int) -> None:
        """Take the packet: from now on only its owner's hooks see it."""

    def release(self) -> None:
        """Give the packet back."""

    def wake_at(self, at_ps: int, token: int) -> None:
        """Have `Mechanism.on` called with ``Event.Timer(token)``."""

    def queue(self, port: int, queue: int) -> QueueAccess:
        """A queue of a port. Raises ValueError when there is none."""

def register_mechanism(
    profile: str,
    check: Callable[[str], str | None],
    build: Callable[[str, str, Sequence[int], int], object],
    defined: list[str],
    replaces: bool,
) -> None:
    """Let scenarios name a class; ``hitless.prototype.kinds`` calls this. Raises ValueError with the reason."""
