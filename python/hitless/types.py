"""The fields of scenarios as types, so that an editor completes them and mypy checks them.

Written by scripts/scenario-types from the schema that ``hitless scenario schema`` prints, where each field is
explained. A scenario is a `Scenario`; the parts of one have the names that the schema gives them.
"""

from collections.abc import Sequence
from typing import Literal, NotRequired, TypeAlias, TypedDict

# ruff: noqa: E501 - a first sentence is as long as it is

Across: TypeAlias = Literal["any", "switches"]
"""The possible pairs of hosts."""


class ActivationChange(TypedDict):
    """A change of protection."""

    active: bool
    at: str


class AfqAdaptive(TypedDict):
    """Adaptation of the number of queues in use; the defaults follow A2FQ's public program."""

    low_divisor: NotRequired[int]
    margin: NotRequired[str]
    queues_min: NotRequired[int]


AfqDropAhead: TypeAlias = Literal["at-queues", "beyond-queues"]
"""Distance at which a packet is dropped."""


AfqFlowKey: TypeAlias = Literal["five-tuple", "source", "class"]
"""Definition of a flow."""


AfqHash: TypeAlias = Literal["multiply-shift", "checksums"]
"""Hash functions of a sketch."""


AfqIdleRound: TypeAlias = Literal["stands-still", "line-rate"]
"""Progress of the round while a port has nothing to send."""


AfqLate: TypeAlias = Literal["served-queue", "named-queue"]
"""Queue of a packet whose round is over."""


class AfqOccupancy(TypedDict):
    """How precisely the enqueue side sees which queues are empty."""

    granularity: NotRequired[str]
    refresh: NotRequired[str]


AfqRound: TypeAlias = Literal["shared", "from-occupancy"]
"""Source of the round on the enqueue side."""


class AfqSchedulerRotatingStrictPriority(TypedDict):
    """A dedicated scheduler (section 3.3.2)."""

    kind: Literal["rotating-strict-priority"]
    late: NotRequired["AfqLate"]
    step: NotRequired[str]


class AfqSchedulerDeficitRoundRobin(TypedDict):
    """Deficit round robin with a quantum that no queue can use up (section 4)."""

    kind: Literal["deficit-round-robin"]
    quantum: NotRequired[str]


class AfqSchedulerTwoGroups(TypedDict):
    """Two groups of strict priorities, swapped by the switch's processor when the first is empty, or after a period (section 4)."""

    delay: NotRequired[str]
    kind: Literal["two-groups"]
    period: NotRequired[str]


AfqScheduler: TypeAlias = AfqSchedulerRotatingStrictPriority | AfqSchedulerDeficitRoundRobin | AfqSchedulerTwoGroups
"""Scheduler of a port's queues."""


class AfqSketch(TypedDict):
    """The sketch of bids."""

    bid_bits: NotRequired[int]
    columns: NotRequired[int]
    hash: NotRequired["AfqHash"]
    rows: NotRequired[int]
    update: NotRequired["AfqUpdate"]


AfqUpdate: TypeAlias = Literal["predicated-increment", "increment", "figure-3"]
"""How a packet raises the bids of its flow."""


AlphaUpdate: TypeAlias = Literal["at-notifications", "periodic"]
"""The time of updates to alpha."""


BackupChoice: TypeAlias = Literal["probed", "first"]
"""Choice among several possible backup ports."""


BoltReaction: TypeAlias = Literal["share", "inverse-share"]
"""The flow's share of a queue."""


class Budget(TypedDict):
    """Resources of a switch pipeline for mechanisms; of their tables only registers are counted."""

    mirror_sessions: NotRequired[int]
    queues_per_port: NotRequired[int]
    recirculation: NotRequired[str]
    sram_blocks_per_stage: NotRequired[int]
    stages: NotRequired[int]
    stateful_alus_per_stage: NotRequired[int]


class BufferStatic(TypedDict):
    """A separate limit for every port."""

    kind: Literal["static"]
    per_port: str


class BufferShared(TypedDict):
    """One buffer for all ports; a queue can take `alpha` times the free part (Choudhury and Hahne 1998)."""

    alpha: float
    kind: Literal["shared"]
    queue_max: NotRequired[str]
    total: str


Buffer: TypeAlias = BufferStatic | BufferShared
"""Division of the buffer."""


Buffering: TypeAlias = Literal["recirculation", "paused-queue"]
"""Where packets wait."""


Clocks: TypeAlias = Literal["independent", "ideal"]
"""Clocks of transmitters, and the times at which frames leave network cards."""


class Close(TypedDict):
    """Time that a receiving application needs to close its connection after the arrival of the last byte."""

    delay: NotRequired[str]
    jitter: NotRequired["Jitter"]


class CongestionNewreno(TypedDict):
    """NewReno (RFC 5681, RFC 6582)."""

    kind: Literal["newreno"]
    window_growth: NotRequired["WindowGrowth"]
    window_validation: NotRequired[bool]


class CongestionCubic(TypedDict):
    """CUBIC (RFC 9438), without HyStart (RFC 9406)."""

    kind: Literal["cubic"]
    time: NotRequired["CubicTime"]
    window_validation: NotRequired[bool]


class CongestionDctcp(TypedDict):
    """DCTCP (RFC 8257)."""

    estimate: NotRequired["DctcpEstimate"]
    gain: NotRequired[float]
    kind: Literal["dctcp"]
    window_growth: NotRequired["WindowGrowth"]
    window_validation: NotRequired[bool]


class CongestionBbr(TypedDict):
    """BBR, version 1 (draft-cardwell-iccrg-bbr-congestion-control-00, or Linux if it is newer)."""

    kind: Literal["bbr"]
    probe_rtt_duration: NotRequired[str]
    rtprop_window: NotRequired[str]


class CongestionSwift(TypedDict):
    """Swift (Kumar et al., SIGCOMM 2020)."""

    ai: NotRequired[float]
    base_target: NotRequired[str]
    beta: NotRequired[float]
    fs_max_cwnd: NotRequired[float]
    fs_min_cwnd: NotRequired[float]
    fs_range: NotRequired[str]
    kind: Literal["swift"]
    max_cwnd: NotRequired[float]
    max_mdf: NotRequired[float]
    min_cwnd: NotRequired[float]
    per_hop: NotRequired[str]
    retransmit_reset_threshold: NotRequired[int]
    rtt_gain: NotRequired[float]


class CongestionBolt(TypedDict):
    """Bolt (Arslan et al., NSDI 2023, section 3, algorithm 3); needs switches with the mechanism 'bolt'."""

    ai: NotRequired[float]
    kind: Literal["bolt"]
    max_cwnd: NotRequired[float]
    min_cwnd: NotRequired[float]
    reaction: NotRequired["BoltReaction"]
    rtt_gain: NotRequired[float]


Congestion: TypeAlias = (
    CongestionNewreno | CongestionCubic | CongestionDctcp | CongestionBbr | CongestionSwift | CongestionBolt
)
"""Congestion control of TCP, with its parameters."""


CongestionChoice: TypeAlias = "Congestion | CongestionName"
"""The syntax of `congestion`."""


CongestionName: TypeAlias = Literal["newreno", "cubic", "dctcp", "bbr", "swift", "bolt"]
"""Name of a congestion control."""


CubicTime: TypeAlias = Literal["rfc9438", "linux"]
"""The time of CUBIC's curve within a stage of congestion avoidance."""


DcqcnChoice: TypeAlias = "Dcqcn | DcqcnPreset"
"""The syntax of `dcqcn`."""


DcqcnPreset: TypeAlias = Literal["paper", "vendor"]
"""Named sets of parameters."""


class Dcqcn(TypedDict):
    """Settings of DCQCN, named as in the paper; defaults are those of `preset`."""

    additive_increase: NotRequired[str]
    alpha_timer: NotRequired[str]
    alpha_update: NotRequired["AlphaUpdate"]
    byte_counter: NotRequired[str]
    clamp_target: NotRequired[bool]
    cnp_interval: NotRequired[str]
    decrease_interval: NotRequired[str]
    fast_recovery_steps: NotRequired[int]
    g: NotRequired[float]
    hyper_increase: NotRequired[str]
    increase_line_rate: NotRequired[str]
    initial_alpha: NotRequired[float]
    minimum_rate: NotRequired[str]
    preset: NotRequired["DcqcnPreset"]
    rate_timer: NotRequired[str]


DctcpEstimate: TypeAlias = Literal["each-window", "at-echoes"]
"""The time of updates to DCTCP's estimate of the fraction of marked bytes."""


class DeflectionCapacityStaticLimit(TypedDict):
    """The queue's own limit."""

    kind: Literal["static-limit"]


class DeflectionCapacityConstant(TypedDict):
    """A number of bytes, regardless of the limit (section 6."""

    kind: Literal["constant"]
    size: str


class DeflectionCapacityCurrentThreshold(TypedDict):
    """The current grant of the shared buffer, at most the queue's own limit."""

    kind: Literal["current-threshold"]


DeflectionCapacity: TypeAlias = (
    DeflectionCapacityStaticLimit | DeflectionCapacityConstant | DeflectionCapacityCurrentThreshold
)
"""Q."""


class DeflectionDecisionThreshold(TypedDict):
    """Enter unless the queue holds more than Q (1 - alpha R), with relative priority R (equation 1)."""

    kind: Literal["threshold"]


class DeflectionDecisionProbabilistic(TypedDict):
    """Always enter while the queue is short; otherwise deflect with a probability (section 6)."""

    kind: Literal["probabilistic"]
    minimum_threshold: NotRequired[str]
    times_alpha: NotRequired[bool]


DeflectionDecision: TypeAlias = DeflectionDecisionThreshold | DeflectionDecisionProbabilistic
"""Whether a packet enters a queue that has room for it."""


class DeflectionOccupancyImmediate(TypedDict):
    """Ingress sees current depths."""

    kind: Literal["immediate"]


class DeflectionOccupancyUpdateGap(TypedDict):
    """Ingress sees the state that egress held at the last multiple of a time (section 6, figure 14)."""

    gap: NotRequired[str]
    kind: Literal["update-gap"]
    sees_full_at_once: NotRequired[bool]


class DeflectionOccupancyControlPackets(TypedDict):
    """Ingress learns from control packets that circulate through recirculation ports for ever, one per queue (section 4.1)."""

    kind: Literal["control-packets"]
    packets: NotRequired[int]


DeflectionOccupancy: TypeAlias = (
    DeflectionOccupancyImmediate | DeflectionOccupancyUpdateGap | DeflectionOccupancyControlPackets
)
"""Source of ingress's knowledge of queues."""


DepthVisible: TypeAlias = Literal["egress", "ingress-and-egress"]
"""Pipelines that can read queue depths."""


class DetectionFixed(TypedDict):
    """Detection after a fixed time at both ends (F10, NSDI 2013."""

    delay: NotRequired[str]
    kind: Literal["fixed"]


class DetectionSignalLoss(TypedDict):
    """Detection by the loss of the signal in hardware (SQR, section VI."""

    delay: NotRequired[str]
    kind: Literal["signal-loss"]


class DetectionProbes(TypedDict):
    """Detection by probes that each end sends to the other; several missing probes in a row mean a failure."""

    interval: NotRequired[str]
    kind: Literal["probes"]
    misses: NotRequired[int]


Detection: TypeAlias = DetectionFixed | DetectionSignalLoss | DetectionProbes
"""Method of detecting the state of a link at its ends."""


DistributionArithmetic: TypeAlias = Literal["exact", "tables"]
"""Arithmetic of the distribution and the average."""


DistributionMean: TypeAlias = Literal["exact", "moving-average"]
"""Packets that count in the mean."""


EcnPoint: TypeAlias = Literal["enqueue", "dequeue"]
"""Time of the decision whether a packet is marked."""


class Ecn(TypedDict):
    """Marking of congestion (RFC 3168)."""

    at: NotRequired["EcnPoint"]
    maximum: NotRequired[str]
    probability: NotRequired[float]
    threshold: str


ErrorCorrection: TypeAlias = Literal["none", "rs-528-514", "rs-544-514"]
"""Forward error correction of an Ethernet link."""


class Fallback(TypedDict):
    """Bounds at which protection changes automatically."""

    bad_periods: NotRequired[int]
    frames_min: NotRequired[int]
    hold: NotRequired[str]
    hold_max: NotRequired[str]
    non_blocking_above: NotRequired[float]
    off_above: NotRequired[float]
    period: NotRequired[str]
    recovery_share: NotRequired[float]


FatTreeWiring: TypeAlias = Literal["standard", "ab"]
"""Wiring between the aggregation and core switches of a fat tree."""


FlowGroupCommon = TypedDict(
    "FlowGroupCommon",
    {
        "class": NotRequired[int],
        "name": str,
        "port": NotRequired[int],
        "rank": NotRequired[int],
        "rank_divisor": NotRequired[int],
        "start": NotRequired[str],
        "stop": NotRequired[str],
        "transport": str,
        "vlan": NotRequired[int],
    },
)
"""What each FlowGroup has."""


class FlowGroupPoisson(FlowGroupCommon):
    """Flows at random times (Poisson) between random hosts, at a given load."""

    across: NotRequired["Across"]
    connections: NotRequired[int]
    count: NotRequired[int]
    destinations: NotRequired[Sequence[str]]
    flows_per_second: NotRequired[float]
    kind: Literal["poisson"]
    load: NotRequired[float]
    load_of: NotRequired["LoadDenominator"]
    request: NotRequired["Request"]
    sizes: "FlowSizes"
    sources: NotRequired[Sequence[str]]


class FlowGroupSchedule(FlowGroupCommon):
    """Flows at regular times, each on a separate connection, independent of the completion of earlier flows."""

    count: NotRequired[int]
    destinations: Sequence[str]
    kind: Literal["schedule"]
    period: str
    sizes: "FlowSizes"
    sources: Sequence[str]


class FlowGroupSequence(FlowGroupCommon):
    """Flows one after the other, each on a separate connection; each starts when the previous one is complete."""

    count: NotRequired[int]
    destinations: Sequence[str]
    gap: NotRequired[str]
    kind: Literal["sequence"]
    sizes: "FlowSizes"
    sources: Sequence[str]


class FlowGroupIncast(FlowGroupCommon):
    """Queries that many hosts answer at once."""

    clients: NotRequired[Sequence[str]]
    count: NotRequired[int]
    fan_in: int
    kind: Literal["incast"]
    load: NotRequired[float]
    load_of: NotRequired["LoadDenominator"]
    period: NotRequired[str]
    queries_per_second: NotRequired[float]
    request: NotRequired["Request"]
    servers: NotRequired[Sequence[str]]
    servers_repeat: NotRequired[bool]
    size: str


class FlowGroupLong(FlowGroupCommon):
    """Flows that send at full speed, between pairs of hosts."""

    destinations: Sequence[str]
    kind: Literal["long"]
    sources: Sequence[str]
    spacing: NotRequired[str]


class FlowGroupConstantRate(FlowGroupCommon):
    """Flows at a constant rate between pairs of hosts; the transport must be 'udp' and sets the rate."""

    destinations: Sequence[str]
    kind: Literal["constant-rate"]
    sources: Sequence[str]
    spacing: NotRequired[str]


class FlowGroupRequests(FlowGroupCommon):
    """Messages one after the other on one connection, between pairs of hosts."""

    count: int
    destinations: Sequence[str]
    gap: NotRequired[str]
    kind: Literal["requests"]
    size: str
    sources: Sequence[str]
    spacing: NotRequired[str]


class FlowGroupPermutation(FlowGroupCommon):
    """Every host sends to one other host and receives from one other host."""

    hosts: NotRequired[Sequence[str]]
    kind: Literal["permutation"]
    size: str
    spread: NotRequired[str]


class FlowGroupList(FlowGroupCommon):
    """Flows listed one by one."""

    file: str
    kind: Literal["list"]
    packet_bytes: NotRequired[str]


FlowGroup: TypeAlias = (
    FlowGroupPoisson
    | FlowGroupSchedule
    | FlowGroupSequence
    | FlowGroupIncast
    | FlowGroupLong
    | FlowGroupConstantRate
    | FlowGroupRequests
    | FlowGroupPermutation
    | FlowGroupList
)
"""A group of flows from one generator."""


class FlowQueueingIdealFq(TypedDict):
    """Ideal fair queueing."""

    bytes_per_round: NotRequired[str]
    charge_drops: NotRequired[bool]
    kind: Literal["ideal-fq"]
    mark_rounds: NotRequired[int]
    weights: NotRequired[Sequence[int]]


class FlowQueueingDrr(TypedDict):
    """Deficit round robin with a queue for each flow (Shreedhar and Varghese 1995)."""

    kind: Literal["drr"]
    quantum: NotRequired[str]
    weights: NotRequired[Sequence[int]]


class FlowQueueingSfq(TypedDict):
    """Stochastic fairness queueing (McKenney 1990)."""

    kind: Literal["sfq"]
    perturbation: NotRequired[str]
    quantum: NotRequired[str]
    queues: NotRequired[int]


class FlowQueueingFqCodel(TypedDict):
    """FQ-CoDel (RFC 8290)."""

    drop_batch: NotRequired[int]
    ecn: NotRequired[bool]
    flows: NotRequired[int]
    interval: NotRequired[str]
    kind: Literal["fq-codel"]
    limit: NotRequired[int]
    quantum: NotRequired[str]
    target: NotRequired[str]


FlowQueueing: TypeAlias = FlowQueueingIdealFq | FlowQueueingDrr | FlowQueueingSfq | FlowQueueingFqCodel
"""Queueing by flow, at every port of every switch."""


class FlowSampling(TypedDict):
    """Window, sent, acknowledged and delivered bytes and retransmitted packets of each active flow of a group."""

    group: str
    period: str


class FlowSizesCdf(TypedDict):
    """Drawn from an empirical distribution."""

    kind: Literal["cdf"]
    largest: NotRequired[str]
    table: str


class FlowSizesFixed(TypedDict):
    """One size for all flows."""

    bytes: str
    kind: Literal["fixed"]


class FlowSizesPareto(TypedDict):
    """Drawn from a Pareto distribution."""

    kind: Literal["pareto"]
    largest: NotRequired[str]
    mean: str
    shape: float


FlowSizes: TypeAlias = FlowSizesCdf | FlowSizesFixed | FlowSizesPareto
"""Sizes of flows."""


class GoodputSampling(TypedDict):
    """Totals of all flows of a group in each interval."""

    group: str
    period: str


class GraphLink(TypedDict):
    """A link of a graph."""

    delay: str
    ends: Sequence[str]
    overhead_bytes: NotRequired[int]
    rate: str


class Gro(TypedDict):
    """Interrupt moderation and generic receive offload, as in Linux (Documentation/networking/napi.rst, net/core/gro.c, net/ipv4/tcp_offload.c)."""

    interrupt_delay: NotRequired[str]
    interrupt_packets: NotRequired[int]


class Host(TypedDict):
    """The hosts; all hosts are alike."""

    kernel: NotRequired["Kernel"]
    network_card: NotRequired["Stack"]
    nic_queue: NotRequired[str]
    priority_tagger: NotRequired["PriorityTagger"]
    reorder_buffer: NotRequired["ReorderBuffer"]
    tcp_small_queues: NotRequired[bool]
    time_to_live: NotRequired[int]
    timer_tick: NotRequired[str]


class JitterNone(TypedDict):
    """No random part."""

    kind: Literal["none"]


class JitterExponential(TypedDict):
    """Exponential distribution."""

    kind: Literal["exponential"]
    mean: str


class JitterLognormal(TypedDict):
    """Lognormal distribution."""

    kind: Literal["lognormal"]
    median: str
    p999: str


Jitter: TypeAlias = JitterNone | JitterExponential | JitterLognormal
"""A random delay."""


class Kernel(TypedDict):
    """Delays between a transport in the kernel and the network card, and the kernel's polling of the card."""

    gro: NotRequired["Gro"]
    jitter: NotRequired["Jitter"]
    receive: NotRequired[str]
    send: NotRequired[str]


class LinkFailure(TypedDict):
    """Failures of a link, always in both directions."""

    count: NotRequired[int]
    every: NotRequired[str]
    first: str
    jitter: NotRequired[str]
    link: str
    outage: NotRequired[str]


LinkGuardianMode: TypeAlias = Literal["blocking", "non-blocking"]
"""Whether packets are delivered in order."""


class LinkImpairment(TypedDict):
    """Impairments of a link, in one or both directions."""

    changes: NotRequired[Sequence["LossChange"]]
    loss: NotRequired["LossModel"]
    name: str
    schedule: NotRequired[Sequence["StateChange"]]


LinkLayerRetryAction: TypeAlias = Literal["best-effort", "block", "discard"]
"""Treatment of frames while the transmitter does not number them."""


class LinkSpec(TypedDict):
    """A link."""

    delay: str
    overhead_bytes: NotRequired[int]
    rate: str


LinkState: TypeAlias = Literal["up", "down"]
"""Whether a link carries frames."""


LoadDenominator: TypeAlias = Literal["source-host-links", "host-links", "leaf-spine-links"]
"""Capacity that a load is relative to."""


class LossChange(TypedDict):
    """A change of the loss."""

    at: str
    loss: "LossModel"


class LossModelNone(TypedDict):
    """No losses."""

    kind: Literal["none"]


class LossModelBernoulli(TypedDict):
    """Loss of each frame with the same probability, independently of all others."""

    kind: Literal["bernoulli"]
    rate: float
    repair_rate: NotRequired[float]


class LossModelGilbertElliott(TypedDict):
    """Losses in bursts, by a chain of two states (Gilbert 1960, Elliott 1963)."""

    kind: Literal["gilbert-elliott"]
    loss_between_bursts: NotRequired[float]
    loss_in_burst: NotRequired[float]
    mean_burst_frames: float
    rate: float


class LossModelBitErrors(TypedDict):
    """Losses by bit errors on the line, after its forward error correction."""

    bit_error_rate: float
    fec: "ErrorCorrection"
    kind: Literal["bit-errors"]


class LossModelTrace(TypedDict):
    """Losses recorded in a file."""

    at_end: NotRequired["TraceEnd"]
    digest: NotRequired[str]
    file: str
    kind: Literal["trace"]


LossModel: TypeAlias = (
    LossModelNone | LossModelBernoulli | LossModelGilbertElliott | LossModelBitErrors | LossModelTrace
)
"""Model that decides which frames arrive corrupted and are dropped by the receiving port."""


class Measure(TypedDict):
    """Optional records of a run."""

    flow: NotRequired[Sequence["FlowSampling"]]
    goodput: NotRequired[Sequence["GoodputSampling"]]
    order: NotRequired[bool]
    queue: NotRequired[Sequence["QueueSampling"]]
    throughput: NotRequired[Sequence["ThroughputSampling"]]


class MechanismLinkguardian(TypedDict):
    """LinkGuardian on one link (Joshi et al., SIGCOMM 2023)."""

    ack_count: NotRequired[int]
    ack_no_timeout: NotRequired[str]
    activation: NotRequired[Sequence["ActivationChange"]]
    actual_loss_rate: NotRequired[float]
    admission_control: NotRequired[bool]
    backpressure: NotRequired[bool]
    buffering: NotRequired["Buffering"]
    consecutive_losses_max: NotRequired[int]
    control_copies: NotRequired[int]
    copies: NotRequired[int]
    deduplicate: NotRequired[bool]
    dummy_count: NotRequired[int]
    fallback: NotRequired["Fallback"]
    first_number: NotRequired[int]
    handshake: NotRequired[bool]
    kind: Literal["linkguardian"]
    link: str
    mode: NotRequired["LinkGuardianMode"]
    non_blocking_classes: NotRequired[Sequence[int]]
    notification_period: NotRequired[str]
    original_ether_type: NotRequired[bool]
    pause_threshold: NotRequired[str]
    reordering_buffer: NotRequired[str]
    repair_latency: NotRequired[str]
    resume_threshold: NotRequired[str]
    sender_buffer: NotRequired[str]
    tail_detection: NotRequired[bool]
    tail_probes: NotRequired[bool]
    target_loss_rate: NotRequired[float]
    timer_period: NotRequired[str]


class MechanismLinkLayerRetry(TypedDict):
    """Ultra Ethernet's Link Layer Retry on one link."""

    admission_control: NotRequired[bool]
    ctlos_spacing: NotRequired[str]
    data_age_timeout: NotRequired[str]
    flush_action: NotRequired["LinkLayerRetryAction"]
    init_action: NotRequired["LinkLayerRetryAction"]
    kind: Literal["link-layer-retry"]
    link: str
    max_outstanding_bytes: NotRequired[str]
    max_outstanding_frames: NotRequired[int]
    max_replay_count: NotRequired[int]
    max_replay_timer: NotRequired[str]
    pcs_lost_timeout: NotRequired[str]
    re_init_on_flush: NotRequired[bool]


class MechanismWharf(TypedDict):
    """Wharf on one link."""

    data_frames: NotRequired[int]
    flush_after: NotRequired[str]
    kind: Literal["wharf"]
    link: str
    parity_frames: NotRequired[int]


class MechanismSqr(TypedDict):
    """SQR on the sending switches of some links (ICNP 2019)."""

    backstop: NotRequired["SqrBackstop"]
    caching: NotRequired["SqrCaching"]
    caching_ports: NotRequired[Sequence[str]]
    classes: NotRequired[Sequence[int]]
    clock_bits: NotRequired[int]
    failure_delay: NotRequired[str]
    finds_idle_ports: NotRequired[bool]
    kind: Literal["sqr"]
    links: Sequence[str]
    ports: NotRequired[Sequence[int]]
    release: NotRequired["SqrRelease"]
    return_hold: NotRequired[str]
    steady_delay: NotRequired[str]
    utilization_window: NotRequired[str]
    vlans: NotRequired[Sequence[int]]


class MechanismAfq(TypedDict):
    """AFQ, approximate fair queueing, on ports of switches (Sharma et al., NSDI 2018)."""

    adaptive: NotRequired["AfqAdaptive"]
    bytes_per_round: NotRequired[str]
    charge_refused: NotRequired[bool]
    class_weights: NotRequired[Sequence[float]]
    drop_ahead: NotRequired["AfqDropAhead"]
    ecn_rounds: NotRequired[int]
    flow_key: NotRequired["AfqFlowKey"]
    idle_round: NotRequired["AfqIdleRound"]
    kind: Literal["afq"]
    measure_estimation: NotRequired[bool]
    occupancy: NotRequired["AfqOccupancy"]
    port_buffer: NotRequired[str]
    ports: NotRequired[Sequence[str]]
    queues: NotRequired[int]
    round: NotRequired["AfqRound"]
    round_trip: NotRequired[str]
    scheduler: NotRequired["AfqScheduler"]
    sketch: NotRequired["AfqSketch"]


class MechanismRimm(TypedDict):
    """RIMM, microbursts detoured to a neighbour, on ports of switches (Lin, Hung and Wen, IEEE Access 2022)."""

    congestion_after: NotRequired[str]
    crossing_lifetime: NotRequired[str]
    detours_max: NotRequired[int]
    flow_detour_max: NotRequired[str]
    flowlet_gap: NotRequired[str]
    hash_bits: NotRequired[int]
    kind: Literal["rimm"]
    messages: NotRequired["RimmMessages"]
    neighbour_change: NotRequired["RimmChange"]
    neighbour_for_returns: NotRequired["RimmAgain"]
    ports: NotRequired[Sequence[str]]
    predecessor_timeout: NotRequired[str]
    record_choices: NotRequired[bool]
    release: NotRequired["RimmRelease"]
    segment: NotRequired[str]
    telemetry_lifetime: NotRequired[str]
    threshold: NotRequired[str]


class MechanismDibs(TypedDict):
    """DIBS, packets of full queues detoured to a random neighbour, on ports of switches (Zarifis et al., EuroSys 2014)."""

    kind: Literal["dibs"]
    ports: NotRequired[Sequence[str]]
    to_arrival_port: NotRequired[bool]
    to_full_ports: NotRequired[bool]


class MechanismSimpleDeflection(TypedDict):
    """Simple Deflection, DIBS as a programmable switch can do it, on ports of switches (Abdous et al., CoNEXT 2023)."""

    kind: Literal["simple-deflection"]
    occupancy: NotRequired["DeflectionOccupancy"]
    ports: NotRequired[Sequence[str]]
    start: NotRequired["ScanStart"]
    to_arrival_port: NotRequired[bool]


class MechanismPreemptiveDeflection(TypedDict):
    """Preemptive Deflection, packets of low priority deflected early, on ports of switches (Abdous et al., CoNEXT 2023)."""

    alpha: NotRequired[float]
    candidates: NotRequired[int]
    capacity: NotRequired["DeflectionCapacity"]
    decision: NotRequired["DeflectionDecision"]
    draw_own_port: NotRequired[bool]
    kind: Literal["preemptive-deflection"]
    memory: NotRequired[bool]
    occupancy: NotRequired["DeflectionOccupancy"]
    ports: NotRequired[Sequence[str]]
    relative_priority: NotRequired["RelativePriority"]
    to_arrival_port: NotRequired[bool]


class MechanismAifo(TypedDict):
    """AIFO, admission as if queues were sorted, on ports of switches (Yu et al., SIGCOMM 2021)."""

    admit_in_headroom: NotRequired[bool]
    boost_retransmissions: NotRequired[bool]
    capacity: NotRequired["DeflectionCapacity"]
    headroom: NotRequired[float]
    kind: Literal["aifo"]
    ports: NotRequired[Sequence[str]]
    sample_every: NotRequired[int]
    window: NotRequired[int]


MechanismPabo = TypedDict(
    "MechanismPabo",
    {
        "capacity": NotRequired["DeflectionCapacity"],
        "kind": Literal["pabo"],
        "lambda": NotRequired[float],
        "ports": NotRequired[Sequence[str]],
        "threshold": NotRequired[float],
    },
)
"""PABO, packets of queues that fill up bounced back, on ports of switches (Shi et al., ICC 2017)."""


class MechanismRankGuard(TypedDict):
    """A guard at the edge against hosts that lie about their priority."""

    allowance: NotRequired[str]
    exempt: NotRequired[str]
    idle: NotRequired[str]
    kind: Literal["rank-guard"]
    ports: NotRequired[Sequence[str]]
    slots: NotRequired[int]
    tolerance: NotRequired[float]


class MechanismVertigo(TypedDict):
    """Vertigo, queues sorted by urgency whose victims go to a neighbour, on ports of switches (Abdous et al., CoNEXT 2021)."""

    candidates: NotRequired[int]
    kind: Literal["vertigo"]
    ports: NotRequired[Sequence[str]]
    record_ranks: NotRequired[bool]
    to_arrival_port: NotRequired[bool]


class MechanismTrimming(TypedDict):
    """Packet trimming, refused packets cut to headers that go first, on ports of switches (CP, NDP, Ultra Ethernet)."""

    control_too: NotRequired[bool]
    headers_per_packet: NotRequired[int]
    kind: Literal["trimming"]
    ports: NotRequired[Sequence[str]]
    queue: NotRequired[str]
    trimmed_frame: NotRequired[str]


class MechanismBolt(TypedDict):
    """Bolt's switch, which tells senders of congestion, on ports of switches (Arslan et al., NSDI 2023)."""

    kind: Literal["bolt"]
    notice_bytes: NotRequired[str]
    ports: NotRequired[Sequence[str]]
    ramp_up_max: NotRequired[int]
    segment: NotRequired[str]
    supply_max: NotRequired[str]
    threshold: NotRequired[str]


class MechanismEveryNth(TypedDict):
    """Losses and marks of an exact period at some ports, for tests of transports."""

    drop_every: NotRequired[int]
    kind: Literal["every-nth"]
    mark_every: NotRequired[int]
    ports: NotRequired[Sequence[str]]


class MechanismP4(TypedDict):
    """A program in P4, as p4c compiles it for BMv2 (v1model), on switches."""

    commands: NotRequired[str]
    digest: NotRequired[str]
    kind: Literal["p4"]
    p4info: NotRequired[str]
    p4runtime: NotRequired[str]
    program: NotRequired[str]
    queue: NotRequired[Sequence["P4Queue"]]
    random_stream: NotRequired[str]
    rounds: NotRequired[Sequence["P4Rounds"]]
    routes: NotRequired["P4Routes"]
    switches: NotRequired[Sequence[str]]
    table: NotRequired[Sequence["P4Entry"]]


Mechanism: TypeAlias = (
    MechanismLinkguardian
    | MechanismLinkLayerRetry
    | MechanismWharf
    | MechanismSqr
    | MechanismAfq
    | MechanismRimm
    | MechanismDibs
    | MechanismSimpleDeflection
    | MechanismPreemptiveDeflection
    | MechanismAifo
    | MechanismPabo
    | MechanismRankGuard
    | MechanismVertigo
    | MechanismTrimming
    | MechanismBolt
    | MechanismEveryNth
    | MechanismP4
)
"""A mechanism and its parameters."""


class P4Entry(TypedDict):
    """A table entry."""

    action: NotRequired[str]
    match: NotRequired[Sequence[str]]
    priority: NotRequired[int]
    switch: NotRequired[str]
    table: NotRequired[str]
    values: NotRequired[Sequence[str]]


class P4Queue(TypedDict):
    """A queue for the program, at some ports."""

    limit: NotRequired[str]
    ports: NotRequired[Sequence[str]]
    priority: NotRequired[int]


class P4Rounds(TypedDict):
    """Rotating queues."""

    limit: NotRequired[str]
    ports: NotRequired[Sequence[str]]
    queues: NotRequired[int]


class P4Routes(TypedDict):
    """A table with an entry for each host."""

    action: NotRequired[str]
    address: NotRequired[str]
    port: NotRequired[str]
    table: NotRequired[str]


PathRule: TypeAlias = Literal["flow-hash", "by-sum", "two-choices"]
"""Rule for the choice among next hops of equal cost."""


class Port(TypedDict):
    """Exceptions for some ports."""

    buffer: NotRequired[str]
    ecn: NotRequired["Ecn"]
    rate: NotRequired[str]
    switches: NotRequired[Sequence[str]]


class PriorityTagger(TypedDict):
    """The mark that senders write on data packets."""

    by: "RankedBy"
    flowlet_gap: NotRequired[str]


QuantileDivisor: TypeAlias = Literal["fill", "window"]
"""Divisor of the number of more urgent packets in a window."""


QuantileOf: TypeAlias = Literal["enqueued", "evaluated"]
"""Packets that are offered to a window."""


class QueueSampling(TypedDict):
    """Samples of the queue depths of some ports."""

    per_flow: NotRequired[bool]
    period: str
    ports: Sequence[str]


RankedBy: TypeAlias = Literal["remaining-bytes", "attained-service", "dscp"]
"""Meaning of a rank; a lower rank is more urgent."""


class RecoverySchemeSamePort(TypedDict):
    """Replace the link, and use the same ports again (ShareBackup, SIGCOMM 2018)."""

    kind: Literal["same-port"]
    reconfiguration: NotRequired[str]


class RecoverySchemeLocalReroute(TypedDict):
    """At each end, send the link's packets through another port until the link is repaired."""

    backup: NotRequired["BackupChoice"]
    kind: Literal["local-reroute"]
    probe_period: NotRequired[str]
    reconfiguration: NotRequired[str]


class RecoverySchemeNone(TypedDict):
    """Only detect failures."""

    kind: Literal["none"]


RecoveryScheme: TypeAlias = RecoverySchemeSamePort | RecoverySchemeLocalReroute | RecoverySchemeNone
"""Reaction to a detected failure."""


class Recovery(TypedDict):
    """Detection and repair of `[[failure]]`s."""

    detection: NotRequired["Detection"]
    scheme: "RecoveryScheme"


class RelativePriorityQuantile(TypedDict):
    """By the share of more urgent packets among recent packets of the queue."""

    divide_by: NotRequired["QuantileDivisor"]
    kind: Literal["quantile"]
    of: NotRequired["QuantileOf"]
    sample_every: NotRequired[int]
    window: NotRequired[int]


class RelativePriorityDistribution(TypedDict):
    """By an exponential distribution with the mean of the queue."""

    arithmetic: NotRequired["DistributionArithmetic"]
    gain: NotRequired[float]
    kind: Literal["distribution"]
    mean: NotRequired["DistributionMean"]


RelativePriority: TypeAlias = RelativePriorityQuantile | RelativePriorityDistribution
"""How the priority of a packet is compared with the packets of a queue (section 3.1)."""


class ReorderBuffer(TypedDict):
    """The reorder buffer."""

    timeout: str


class Request(TypedDict):
    """Request of a client before a flow."""

    size: str
    think: NotRequired["Think"]


RimmAgain: TypeAlias = Literal["same-neighbour", "least-loaded"]
"""Neighbour of a packet that is detoured again, which the paper leaves open."""


RimmChange: TypeAlias = Literal["between-detours", "any-time"]
"""When new packets of a flow may use another neighbour."""


RimmMessages: TypeAlias = Literal["first", "in-order"]
"""Queue of message packets, which the paper leaves open."""


RimmRelease: TypeAlias = Literal["flowlet-gap", "exact", "unordered"]
"""The order of detoured packets, and the end of a detour."""


RoceRecovery: TypeAlias = Literal["go-back-n", "selective-repeat"]
"""Treatment of packets that arrive after a lost one."""


class Routing(TypedDict):
    """Choice of paths."""

    choice: NotRequired["PathRule"]


RtoFormula: TypeAlias = Literal["rfc6298", "linux"]
"""Formula of the retransmission timeout."""


ScanStart: TypeAlias = Literal["uniform", "five-bit"]
"""Start of the scan for a port that is not full."""


SchedulerKind: TypeAlias = Literal["fifo", "strict", "drr"]
"""Order of service of a port's queues."""


class SqrBackstop(TypedDict):
    """Thresholds of the packet buffer's occupancy."""

    pause: str
    resume: str


SqrCaching: TypeAlias = Literal["ring", "delay-queue"]
"""Where copies are kept."""


SqrRelease: TypeAlias = Literal["after-delay", "when-rerouted"]
"""When due copies may leave."""


class Stack(TypedDict):
    """Delays between a transport and the network card."""

    jitter: NotRequired["Jitter"]
    receive: NotRequired[str]
    send: NotRequired[str]


class StateChange(TypedDict):
    """A link going down or coming up."""

    at: str
    state: "LinkState"


SwitchPreset: TypeAlias = Literal["tofino-like", "ideal"]
"""A named set of values for `[switch]`."""


class Switch(TypedDict):
    """The switches."""

    budget: NotRequired["Budget"]
    buffer: NotRequired["Buffer"]
    checked: NotRequired[bool]
    depth_visible: NotRequired["DepthVisible"]
    drr_quantum: NotRequired[str]
    ecn: NotRequired["Ecn"]
    egress_latency: NotRequired[str]
    flow_queueing: NotRequired["FlowQueueing"]
    ingress_latency: NotRequired[str]
    loopback_latency: NotRequired[str]
    mirror_latency: NotRequired[str]
    phy_latency: NotRequired[str]
    ports: NotRequired[Sequence["Port"]]
    preset: NotRequired["SwitchPreset"]
    queues_per_port: NotRequired[int]
    recirculation_ports: NotRequired[int]
    recirculation_rate: NotRequired[str]
    scheduler: NotRequired["SchedulerKind"]


TcpRecovery: TypeAlias = Literal["newreno", "reno"]
"""Loss recovery of TCP without selective acknowledgements."""


class Think(TypedDict):
    """Think time of a server."""

    deviation: NotRequired[str]
    mean: NotRequired[str]


class ThroughputSampling(TypedDict):
    """Bytes carried in each interval."""

    links: Sequence[str]
    period: str


class TopologyLeafSpine(TypedDict):
    """Leaf-spine."""

    core_link: "LinkSpec"
    host_link: "LinkSpec"
    hosts_per_leaf: int
    kind: Literal["leaf-spine"]
    leaves: int
    spines: int


class TopologyFatTree(TypedDict):
    """A k-ary fat tree (Al-Fares et al., SIGCOMM 2008)."""

    core_link: "LinkSpec"
    host_link: "LinkSpec"
    k: int
    kind: Literal["fat-tree"]
    wiring: NotRequired["FatTreeWiring"]


class TopologyDumbbell(TypedDict):
    """Dumbbell."""

    bottleneck: "LinkSpec"
    host_link: "LinkSpec"
    hosts_left: int
    hosts_right: int
    kind: Literal["dumbbell"]


class TopologyChain(TypedDict):
    """Chain."""

    host_link: "LinkSpec"
    hosts_left: Sequence[str]
    hosts_right: Sequence[str]
    kind: Literal["chain"]
    switch_link: "LinkSpec"
    switches: Sequence[str]


class TopologyGraph(TypedDict):
    """Any graph."""

    hosts: Sequence[str]
    kind: Literal["graph"]
    links: Sequence["GraphLink"]
    switches: Sequence[str]


Topology: TypeAlias = TopologyLeafSpine | TopologyFatTree | TopologyDumbbell | TopologyChain | TopologyGraph
"""The fabric."""


TraceEnd: TypeAlias = Literal["repeat", "stop"]
"""Losses after the end of a trace."""


class TransportCommon(TypedDict):
    """What each Transport has."""

    name: str


class TransportTcp(TransportCommon):
    """TCP."""

    ack_bytes: NotRequired[str]
    burst_segments: NotRequired[int]
    close: NotRequired["Close"]
    congestion: NotRequired["CongestionChoice"]
    delayed_ack_segments: NotRequired[int]
    delayed_ack_timeout: NotRequired[str]
    dsack_undo: NotRequired[bool]
    duplicate_acks: NotRequired[int]
    ecn: NotRequired[bool]
    eifel_undo: NotRequired[bool]
    fast_retransmit: NotRequired[bool]
    handshake: NotRequired[bool]
    header_bytes: NotRequired[str]
    initial_window: NotRequired[int]
    kind: Literal["tcp"]
    known_rtt: NotRequired[str]
    mss: NotRequired[str]
    nagle: NotRequired[bool]
    pacing: NotRequired[bool]
    quick_acks: NotRequired[int]
    rack_tlp: NotRequired[bool]
    receive_window: NotRequired[str]
    recovery: NotRequired["TcpRecovery"]
    rto_formula: NotRequired["RtoFormula"]
    rto_initial: NotRequired[str]
    rto_max: NotRequired[str]
    rto_min: NotRequired[str]
    sack: NotRequired[bool]
    slow_start_after_idle: NotRequired[bool]
    syn_timeout: NotRequired[str]
    tlp_max_ack_delay: NotRequired[str]


class TransportRoce(TransportCommon):
    """RoCEv2, reliable connection, RDMA WRITE."""

    ack_bytes: NotRequired[str]
    acknowledge_every: NotRequired[int]
    dcqcn: NotRequired["DcqcnChoice"]
    header_bytes: NotRequired[str]
    kind: Literal["roce"]
    mtu: NotRequired[str]
    recovery: NotRequired["RoceRecovery"]
    retries: NotRequired[int]
    timeout: NotRequired[str]
    window: NotRequired[int]


class TransportUdp(TransportCommon):
    """UDP at a constant rate."""

    frame_bytes: NotRequired[str]
    header_bytes: NotRequired[str]
    kind: Literal["udp"]
    linger: NotRequired[str]
    rate: str


class TransportPacketPair(TransportCommon):
    """Packet-pair flow control for fair-queueing switches, with TCP's loss recovery (AFQ, section 5 and appendix A)."""

    ack_bytes: NotRequired[str]
    ack_delay: NotRequired[str]
    bytes_per_round: NotRequired[str]
    duplicate_acks: NotRequired[int]
    ecn: NotRequired[bool]
    ecn_gain: NotRequired[float]
    gap_gain: NotRequired[float]
    header_bytes: NotRequired[str]
    kind: Literal["packet-pair"]
    longest_pair: NotRequired[int]
    mss: NotRequired[str]
    rack_tlp: NotRequired[bool]
    restart_after_idle: NotRequired[bool]
    rto_formula: NotRequired["RtoFormula"]
    rto_initial: NotRequired[str]
    rto_max: NotRequired[str]
    rto_min: NotRequired[str]
    sack: NotRequired[bool]
    window_factor: NotRequired[float]


Transport: TypeAlias = TransportTcp | TransportRoce | TransportUdp | TransportPacketPair
"""A transport with its parameters, referred to by `[[flows]]`."""


Until: TypeAlias = Literal["duration", "all-flows-done"]
"""Condition that ends a run."""


WindowGrowth: TypeAlias = Literal["byte-counting", "per-ack"]
"""Growth of the congestion window per acknowledgement."""


class Scenario(TypedDict):
    """A scenario."""

    clocks: NotRequired["Clocks"]
    description: NotRequired[str]
    duration: NotRequired[str]
    failure: NotRequired[Sequence["LinkFailure"]]
    failure_file: NotRequired[str]
    flows: NotRequired[Sequence["FlowGroup"]]
    host: NotRequired["Host"]
    link: NotRequired[Sequence["LinkImpairment"]]
    measure: NotRequired["Measure"]
    mechanism: NotRequired[Sequence["Mechanism"]]
    name: str
    recovery: NotRequired["Recovery"]
    routing: NotRequired["Routing"]
    seed: NotRequired[int]
    switch: NotRequired["Switch"]
    topology: "Topology"
    transport: NotRequired[Sequence["Transport"]]
    until: NotRequired["Until"]
    warmup: NotRequired[str]
