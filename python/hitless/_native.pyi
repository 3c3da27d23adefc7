"""The simulator (crates/python)."""

from collections.abc import Callable, Sequence
from os import PathLike
from typing import ClassVar, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

Column: TypeAlias = NDArray[np.uint64] | NDArray[np.int64] | NDArray[np.float64] | list[str]

class ScenarioError(Exception):
    """A scenario that cannot run; the text is complete and for people."""

class SimulationError(Exception):
    """A run that failed one of its own checks."""

class CheckpointError(Exception):
    """A run that cannot write checkpoints, or cannot resume from one; the text says why."""

class Cancelled(Exception):
    """The run was stopped by `Simulation.cancel`."""

class Checkpoints:
    """The file of a run's newest checkpoint: written periodically, by wall clock or simulated time."""

    def __init__(
        self,
        path: str | PathLike[str],
        program: str,
        *,
        wall_s: float | None = None,
        simulated_ps: int | None = None,
        resumes: bool = False,
    ) -> None:
        """``program`` identifies this build; with ``resumes`` the run resumes from the file."""

class CheckedScenario:
    """A scenario that has been parsed and checked, for any number of simulations; raises `ScenarioError`."""

    text: str
    """The file's content."""

    def __init__(self, text: str, file_name: str, keeps_rows: bool = True, threads: int = 1) -> None: ...
    @property
    def effective(self) -> str:
        """The scenario as TOML with every default spelled out."""

    def memory(self) -> tuple[float, list[tuple[str, str, float]]]:
        """Return the estimated bytes of a run, and by part: field, description, bytes; the highest first."""

class Simulation:
    """One simulation: made from a scenario, run once or in steps, read afterwards."""

    def __init__(self, scenario: CheckedScenario, seed: int | None = None) -> None: ...
    def run(
        self,
        threads: int = 1,
        rows: Callable[[str, dict[str, Column]], None] | None = None,
        checkpoints: Checkpoints | None = None,
        kept: list[str] | None = None,
    ) -> None:
        """Run to the end on up to ``threads`` threads, without holding the GIL.

        Final rows of flows and messages go to ``rows``, as table name and columns, and are left out of the tables.
        Without ``rows`` they are kept in memory, of the tables in ``kept`` or of all. With ``checkpoints`` the run uses
        one thread, and keeps all rows.
        """

    def start(self) -> None:
        """Start the run in steps: it stops on request, shows counters, and takes commands."""

    @property
    def now_ps(self) -> int: ...
    def advance(self, until_ps: int) -> bool:
        """Run up to ``until_ps``, leaving events due at this time pending; False when the run has ended."""

    def receive_counters(self, link: str) -> tuple[int, int]:
        """Return good frames, and all frames, counted by the MAC that receives from ``link``."""

    def protect(self, link: str, end: str, copies: int, mode: str) -> None:
        """Let the "sender" or "receiver" end of ``link`` protect it; ``mode`` is "blocking" or "non-blocking"."""

    def unprotect(self, link: str, end: str) -> None: ...
    def fail(self, link: str) -> None: ...
    def repair(self, link: str) -> None: ...
    def corrupt(self, link: str, rate: float, mean_burst_frames: float | None = None) -> None: ...
    def queues(self) -> dict[str, Column]: ...
    def mechanisms(self) -> dict[str, Column]: ...
    def finish(self) -> None:
        """Run to the end after steps."""

    def checkpoint_refusal(self) -> str | None: ...
    def stop(self) -> None:
        """Ask a run to stop with partial results; its summary then says ``incomplete``."""

    def cancel(self) -> None: ...
    def describe(self) -> tuple[int, float, str] | None:
        """Return events, wall seconds and a report of the run in progress, from another thread; None if it is over."""

    def report(self) -> str:
        """Return the report of the run in steps."""

    @property
    def progress(self) -> float: ...
    @property
    def summary(self) -> str:
        """A JSON object; see `hitless.simulation.Summary`."""

    @property
    def tables(self) -> dict[str, dict[str, Column]]:
        """Table name -> column name -> values."""

    @property
    def captures(self) -> dict[str, bytes]:
        """Name of a capture of packets -> its pcapng file."""

    @property
    def effective(self) -> str: ...

class TrafficEnds:
    """A generator at one interface and a sink at another one, each (network namespace, interface)."""

    def __init__(self, source: tuple[str, str], sink: tuple[str, str]) -> None: ...
    def stream(self, frame_bytes: int, rate_pps: float | None, duration_s: float, cpu: int | None) -> str:
        """Send frames of ``frame_bytes`` (check sequence included); return the received ones, as a JSON object.

        Without ``rate_pps``, send as fast as possible.
        """

class PlainForwarder:
    """Forwards every frame between two interfaces: ports without a switch."""

    mode: str
    """The actual mode of the first interface."""

    def __init__(self, namespace: str, left: str, right: str, mode: str) -> None: ...
    def run(self, cpu: int | None) -> None:
        """Forward until `stop`, on one processor. Once."""

    def stop(self) -> None: ...

def switch_off_offloads_in(namespace: str, interface: str) -> list[str]:
    """Switch off the offloads of an interface that change frames; return those that are still on."""

class NetworkInterface:
    """An Ethernet interface in the network namespace of the thread that creates it.

    Every method raises OSError with a complete message: if the interface is missing or disappeared, or without
    CAP_NET_ADMIN.
    """

    def __init__(self, name: str) -> None: ...
    @property
    def mtu_bytes(self) -> int:
        """The maximum payload of a frame, without addresses and type."""

    def set_mtu_bytes(self, mtu_bytes: int) -> None:
        """Set the MTU; open ports afterwards."""

    def set_up(self, up: bool) -> None: ...
    @property
    def carrier(self) -> Literal["off", "lost", "present"]:
        """Can frames cross now?"""

    @property
    def index(self) -> int: ...
    def offloads_on(self) -> list[str]:
        """Return the active offloads that change frames, in the spelling of ``ethtool -k``."""

    def switch_off_receive_offloads(self) -> tuple[list[str], list[str]]:
        """Switches off the offloads that change received frames; returns as `switch_off_offloads`."""

    def switch_off_offloads(self) -> tuple[list[str], list[str]]:
        """Switch off offloads that change frames: return those switched off now, and those that stay on."""

    def switch_on_offloads(self, names: list[str]) -> None: ...

class Live:
    """The fabric of a scenario in real time, between real interfaces.

    Create it, run it once (in a separate thread), and read it afterwards. The flows of the scenario do not run: real
    programs send. One thread can call `run` while others call the rest.
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
        captures: str | PathLike[str] | None = None,
    ) -> None:
        """Read the scenario and open the interfaces, in the network namespace of the calling thread.

        ``interfaces``: node (host or remote switch; a link "sw1->sw2" if several lead to this switch)
        -> interface. ``stations``: Ethernet address -> node of ``interfaces``, for known addresses; others are
        learned. ``slack_us``: lateness above which a deadline is missed. ``busy_poll``: never sleep. ``spin_us``: wait
        awake for events nearer than this. ``frames``, ``frame_bytes``: the pool of frames. ``ring_frames``: size of the
        rings. ``record``: a file for `live_replay`; ``record_frame_bytes``: store this much of each frame and a hash of
        the rest. ``self_test``: first measure the machine's capacity for 50 ms; `status` shows it. ``mode``: path of
        frames to the kernel: "packet", "xdp", "xdp-zero-copy", "xdp-copy", "xdp-generic" or "auto". ``captures``:
        folder for the files of ``[[measure.capture]]``; without it nothing is captured.

        Raises `ScenarioError`, or OSError for an interface that cannot be opened.
        """

    def run(self, duration_s: float | None = None) -> None:
        """Run until `stop`, or for ``duration_s``, without holding the GIL. Raises `SimulationError`."""

    def stop(self) -> None: ...
    def status(self) -> str:
        """Return the status (after the run: the final one), as a JSON object; see crates/live/src/status.rs."""

    def command(self, text: str) -> None:
        """Execute a command; ValueError if this is impossible.

        "fail LINK", "repair LINK", "corrupt LINK RATE", "protect LINK COPIES blocking|non-blocking" or "unprotect
        LINK", where LINK is "a->b" or "a<->b".
        """

    def take(self, node: str, frames: str, between_ns: tuple[int, int] | None = None) -> None:
        """Set the frames that the port of a node takes; ValueError for an unknown node.

        "all", "link" (frames of the format of links), or "nothing". A path in the kernel forwards the others.
        ``between_ns``: only frames that the kernel receives between these times of the monotonic clock.
        """

    def notices(self) -> list[tuple[str, str, Literal["gone", "back", "lost", "merged"], str]]:
        """Return changes of interfaces since the last call: node, interface, change, detail."""

    @property
    def is_over(self) -> bool: ...
    @property
    def recording(self) -> str | None:
        """The numbers of recorded arrivals and decisions, and the reason for a truncated recording, as JSON."""

    @property
    def summary(self) -> str: ...
    @property
    def tables(self) -> dict[str, dict[str, Column]]: ...
    @property
    def effective(self) -> str: ...

def live_replay(path: str | PathLike[str], other: str | None = None) -> str:
    """Repeat a recorded live run in simulation; return arrivals, equal decisions and the first difference, as JSON.

    ``other``: the text of another scenario for the recorded frames; this compares the fate of packets.

    Raises OSError, ValueError for an invalid recording, and `SimulationError`.
    """

def p4_test(document: str, tests: str, name: str) -> str:
    """Run STF packet tests on a program compiled by p4c for BMv2; JSON. Raises ValueError with the reason."""

def p4_trace(
    document: str,
    commands: tuple[str, str],
    runtime: tuple[tuple[str, str], tuple[str, str]] | None,
    port: int,
    packet: bytes,
) -> str:
    """Trace the path of one packet after entries; JSON. Files are name and text: commands, and p4info with request.

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
    """Measure the CPU seconds for a number of packets; JSON. Raises ValueError with the reason."""

def deflection_relative_priorities(ranks: list[int], window: int, queue_packets: int) -> list[tuple[float, float]]:
    """Return relative priorities of packets entering a queue in turn: by quantile, and by exponential distribution."""

def deflection_scan_counts(
    full_probabilities: list[float], draws: int, seed: int, start: Literal["uniform", "five-bit"]
) -> tuple[list[int], int]:
    """Count how often each port is the first with free space from a random start, and how often all are full."""

def linkguardian_copies(actual_loss_rate: float, target_loss_rate: float) -> int:
    """Return the copies that LinkGuardian retransmits for each lost packet: Equation 2, rounded up."""

def link_inner_mtu(outer_mtu: int, vlan_tags: int) -> int | None:
    """Return the MTU for hosts with frames across a protected link of MTU ``outer_mtu``; None if it is too small."""

def link_outer_mtu(inner_mtu: int, vlan_tags: int) -> int:
    """Return the MTU that a protected link needs for hosts with MTU ``inner_mtu``."""

def size_table(name: str) -> list[tuple[float, float]] | None:
    """Return a built-in distribution of flow sizes, by points: bytes, and the share of flows up to them."""

class FleetError(Exception):
    """Invalid input of the fleet simulator; its arguments are the problem, its place, and a hint."""

class FleetTopology:
    """Switches in tiers: a shape by name, or the text of a file."""

    def __init__(self, text: str, file_name: str | None = None) -> None: ...
    @staticmethod
    def is_spec(text: str) -> bool:
        """Does the text name a shape, rather than a file?"""

    @property
    def links(self) -> int: ...

class FleetProtection:
    """The effect of LinkGuardian on a link: in a mode, or from the text of a file."""

    def __init__(self, text: str, file_name: str | None = None) -> None: ...
    @staticmethod
    def is_mode(text: str) -> bool:
        """Does the text name a mode, rather than a file?"""

    def at(self, gbps: float, loss_rate: float) -> tuple[float, float]:
        """Return the effective loss rate of a link, and its remaining speed in Gb/s."""

class FleetTrace:
    """Failures of the links of a topology."""

    @staticmethod
    def generate(
        topology: FleetTopology, seed: int, mean_hours: float, weibull_shape: float, duration_hours: int
    ) -> FleetTrace: ...
    @staticmethod
    def read(text: str, file_name: str, topology: FleetTopology | None) -> FleetTrace:
        """Read the published format, for ``topology`` or the one named in the file."""

    def to_json(self) -> str: ...
    def columns(self) -> dict[str, Column]: ...
    @property
    def name(self) -> str: ...
    @property
    def span_s(self) -> tuple[int, int] | None:
        """The seconds of the first and of the last failure; None without failures."""

    @property
    def topology(self) -> FleetTopology: ...

class FleetYear:
    """One year: made from a trace and a policy, run once, read afterwards."""

    def __init__(
        self,
        trace: FleetTrace,
        policy: str,
        capacity: float,
        deployment: float,
        protection: FleetProtection,
        seed: int,
        repairs: tuple[str, str] | None,
    ) -> None: ...
    def run(self) -> None: ...
    def cancel(self) -> None: ...
    @property
    def progress(self) -> float: ...
    def states(self) -> dict[str, Column]: ...
    def published_rows(self) -> dict[str, Column]: ...
    def repairs(self) -> str: ...
    def counts(self) -> tuple[int, int, int]:
        """Return the failures in the trace, the failures of links that were down, and the links taken down."""

def fleet_policies() -> list[str]: ...
def fleet_policy_protects(name: str) -> bool:
    """Does the policy run LinkGuardian? Raises `FleetError` for an unknown name."""

def version() -> str: ...
def memory_limit(root: str | PathLike[str] = "/") -> int | None:
    """Return the minimum of all memory limits of a run, in bytes. ``root`` contains proc and sys."""

def mechanism_kinds() -> list[tuple[str, str, str | None]]:
    """Return the kinds of mechanisms: name, a sentence, and the user's crate that it comes from."""

def mechanism_quantities() -> list[tuple[str, list[tuple[str, str]]]]:
    """Return key and label of the quantities in histograms and series of each kind of mechanism."""

def mechanism_counters() -> list[tuple[str, list[tuple[str, str, str]]]]:
    """Return each kind's counters: key, label, meaning. The last kind, "", is every kind: the resources."""

def congestion_kinds() -> list[tuple[str, str, str | None]]:
    """Return the congestion controls from outside the tree: name, a sentence, and the user's crate."""

def scenario_schema(format: Literal["text", "json"]) -> str:  # noqa: A002
    """Return every field of a scenario file, for people or as JSON Schema."""

def scenario_examples() -> list[tuple[str, str]]: ...
def scenario_example(name: str) -> str | None: ...
def scenario_resources(text: str, file_name: str) -> str:
    """Return the resources of mechanisms on each kind of switch, as a JSON list; raises `ScenarioError`."""

def bench_switch(discipline: str, load: str, fraction: float, seed: int) -> str:
    """Run a discipline in one switch under "high" load or "over" it; return measurements as a JSON object."""

def bench_switch_disciplines() -> list[tuple[str, str]]:
    """Return disciplines and mechanisms that `bench_switch` knows, each with its base for comparison."""

def scenario_fabric(text: str, file_name: str) -> str:
    """Return the fabric of a scenario as one JSON object."""

def scenario_check_live(text: str, file_name: str) -> tuple[str, str]:
    """Check for a live run, without requiring flows or a duration; then return its fabric as a JSON object, too."""

def bench_engine(work: str, fraction: float, seed: int, threads: int = 1) -> str:
    """Run a benchmark workload with a fraction of each flow's packets; return measurements as a JSON object."""

class MechanismError(Exception):
    """A mechanism written as a Python class raised an error, which is the cause of this one."""

class Ecn:
    """The ECN field of a packet."""

    NOT_CAPABLE: ClassVar[Ecn]
    CAPABLE: ClassVar[Ecn]
    CONGESTION_EXPERIENCED: ClassVar[Ecn]

class DropReason:
    """Reason why a packet ends in a switch. From DUPLICATE on, the reasons do not count as loss."""

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
    """Decision of a hook about its packet."""

    CONTINUE: ClassVar[Verdict]
    """Continue on its path."""

    @staticmethod
    def forward(port: int, queue: int) -> Verdict:
        """Send it to this queue at once, skipping the remaining hooks of this half."""

    @staticmethod
    def hold(port: int, queue: int, duration_ps: int) -> Verdict:
        """Like `forward`, to a queue that holds the packet for a time before serving it. Only in egress."""

    @staticmethod
    def drop(reason: DropReason = ...) -> Verdict:
        """Drop it: a loss (MECHANISM) unless stated otherwise."""

class Event:
    """An event for a mechanism, outside the path of packets."""

    class Start(Event):
        """The control plane's start."""

    class Timer(Event):
        """A timer of `Context.wake_at` has expired."""

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
        """A port has changed its state: its link is up, another port replaces it, or packets cannot leave."""

        __match_args__ = ("port", "is_up", "backup")
        @property
        def port(self) -> int: ...
        @property
        def is_up(self) -> bool: ...
        @property
        def backup(self) -> int | None: ...

    class FcsError(Event):
        """A frame with a bad check sequence has arrived."""

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
    """The descriptor of a packet. `Context.packet` is valid during one hook; `copy` it to keep it."""

    traffic_class: int
    """0 to 7."""
    header: bytes | None
    """The header of this mechanism, or None. It stays on the packet until a hook sets it to None."""

    def __init__(self, frame_bytes: int, *, source: int = 0, destination: int = 0, traffic_class: int = 0) -> None: ...
    def copy(self) -> Packet:
        """Return a copy."""

    @property
    def frame_bytes(self) -> int:
        """The length of the frame with its check sequence and all headers of mechanisms."""

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
        """The hash of the 5-tuple."""

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
        """Its role for its owner."""

    @property
    def urgency(self) -> int:
        """Its urgency; lower values go first."""

    @property
    def has_payload(self) -> bool:
        """Does it carry data of its flow?"""

    @property
    def is_trimmed(self) -> bool: ...
    @property
    def is_link_retransmission(self) -> bool:
        """Is it a retransmission on its last link?"""

    @property
    def is_congestion_notice(self) -> bool: ...
    def mark_congestion(self) -> bool:
        """Mark congestion experienced; False if its transport is not ECN-capable."""

    def trim(self, frame_bytes: int) -> bool:
        """Cut it to a header of ``bytes``; False if its receiver would not understand that."""

class QueueAccess:
    """A queue of any port. All but depths requires a port with a queue of the mechanism, or a hook after the queues."""

    @property
    def bytes(self) -> int:
        """The bytes in the queue, before the hook. Request it in `hitless.Needs.depths`."""

    @property
    def committed_bytes(self) -> int:
        """The bytes in the queue, in transmission and heading for it. Request it in `hitless.Needs.depths`."""

    def mirror(self, role: int, copy: Packet | None = None) -> None:
        """Send a copy of the packet as it is now, or this ``copy`` of it, owned by the mechanism in ``role``."""

    def emit(self, packet: Packet, role: int) -> None:
        """Send a packet that the mechanism made, owned by it in ``role``."""

    def pause(self) -> None:
        """Stop the queue."""

    def resume(self, delay_ps: int = 0) -> None:
        """Resume the queue."""

class Context:
    """The view of a hook on its switch, and its requests. It is valid for one call."""

    @property
    def now_ps(self) -> int: ...
    @property
    def port(self) -> int:
        """The ingress port during ingress, and the egress port during egress."""

    @property
    def packet(self) -> Packet:
        """The packet; changes take effect when the hook returns."""

    @property
    def is_last_try(self) -> bool:
        """Will the packet, which the traffic manager drops, end whatever the hook returns?"""

    @property
    def is_mine(self) -> bool:
        """Does the packet belong to this mechanism?"""

    def adopt(self, role: int) -> None:
        """Take the packet: only its owner's hooks see it afterwards."""

    def release(self) -> None:
        """Give the packet back."""

    def wake_at(self, at_ps: int, token: int) -> None:
        """Schedule a call of `Mechanism.on` with ``Event.Timer(token)``."""

    def queue(self, port: int, queue: int) -> QueueAccess:
        """Return a queue of a port. Raises ValueError for an unknown queue."""

def register_mechanism(
    profile: str,
    check: Callable[[str], str | None],
    build: Callable[[str, str, Sequence[int], int], object],
    defined: list[str],
    replaces: bool,
) -> None:
    """Let scenarios name a class; ``hitless.prototype.kinds`` calls this. Raises ValueError with the reason."""

class Ack:
    """An acknowledgement."""

    @property
    def now_ps(self) -> int:
        """Time in picoseconds."""

    @property
    def delivered_bytes(self) -> int:
        """Bytes that this acknowledgement reports delivered for the first time."""

    @property
    def outstanding_bytes(self) -> int:
        """Bytes sent and not acknowledged in order."""

    @property
    def acknowledged_bytes(self) -> int:
        """All bytes acknowledged in order."""

    @property
    def sent_bytes(self) -> int:
        """All bytes sent for the first time."""

    @property
    def rtt_ps(self) -> int | None:
        """Round-trip time of the newest acknowledged packet in picoseconds; None if unknown."""

    @property
    def marked(self) -> bool:
        """Whether it echoes a mark of congestion."""

    @property
    def state(self) -> Literal["open", "cwr", "recovery", "loss"]:
        """State of the sender; needs ``sets_cwnd``."""

    @property
    def lost_bytes(self) -> int:
        """Bytes newly detected as lost; needs ``sets_cwnd``."""

    @property
    def in_flight_bytes(self) -> int:
        """Bytes in the network after the acknowledgement; needs ``sets_cwnd``."""

    @property
    def smoothed_rtt_ps(self) -> int | None:
        """Smoothed round-trip time in picoseconds, None before the first sample; needs ``sets_cwnd``."""

    @property
    def cwnd_limited(self) -> bool:
        """Whether the window limited the sender when the acknowledged data was sent; needs ``sets_cwnd``."""

    @property
    def delivery_rate(self) -> float | None:
        """Sample of the delivery rate in bits per second, None without one; needs ``samples_delivery_rate``."""

class TransportWindow:
    """The window and the pacing rate of a connection."""

    cwnd: float
    """Congestion window in bytes; the sender uses whole bytes, at least a segment."""
    pacing_rate: float | None
    """Rate of payload in bits per second; None: as fast as the window allows, or as ``pacing`` says."""

    @property
    def ssthresh(self) -> float:
        """The window to which the last loss, timeout or mark reduced it, in bytes; infinite before."""

    @property
    def mss(self) -> int:
        """Payload of a full segment in bytes."""

    def _begin(self, mss: int, cwnd: float) -> None:
        """Prepare a new connection."""

def register_transport(
    profile: str, check: Callable[[str], str | None], build: Callable[[str, int, float, int], object], replaces: bool
) -> None:
    """Let scenarios name a class; ``hitless.prototype.kinds`` calls this. Raises ValueError with the reason."""
