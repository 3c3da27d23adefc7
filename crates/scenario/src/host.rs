//! `[host]` and `[[transport]]`: how hosts send.

use hitless_core::settings::quantity::{Optional, QueueLength, Text};
use hitless_core::wire::Duration;
use hitless_hosts::transport::packet_pair::PacketPairSettings;
use hitless_hosts::transport::roce::RoceSettings;
use hitless_hosts::transport::tcp::TcpSettings;
use hitless_hosts::transport::udp::UdpSettings;
use hitless_hosts::{Jitter, TransportConfig};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The hosts, all alike.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct HostSettings {
    /// Delays of packets whose transport is in the kernel or in a program: TCP, UDP.
    pub kernel: KernelSettings,
    /// Delays of packets whose transport is in the network card: RoCE.
    pub network_card: StackSettings,
    /// Whether the card's backlog holds TCP back (Linux: TCP small queues). Without it TCP sends what its window
    /// allows.
    pub tcp_small_queues: bool,
    /// What may wait in the card; more is dropped.
    #[serde(with = "Text::<QueueLength>")]
    pub nic_queue: QueueLength,
    /// Timers fire at multiples of this: 1 ms or 4 ms for Linux kernels with 1000 or 250 ticks a second; 0 s: exactly.
    #[serde(with = "Text::<Duration>")]
    pub timer_tick: Duration,
    /// Hops that packets may take: each switch takes one. (Linux: 64.)
    #[schemars(range(min = 1, max = 255))]
    pub time_to_live: u8,
    /// Data packets carry a mark of 8 B that says how urgent they are, written below the transport (Vertigo, CoNEXT
    /// 2021, section 3.1). `[[flows]]` may fix or falsify what it says. Left out: only groups with a `rank` are marked.
    /// Live, real hosts write no such mark: only `by = "dscp"` has an effect there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub priority_tagger: Option<PriorityTaggerSettings>,
    /// Marked packets are put back into order below the receiving transport (Vertigo, section 3.3). Left out: they go
    /// to the transport as they come.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reorder_buffer: Option<ReorderBufferSettings>,
}

/// What senders write on data packets.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PriorityTaggerSettings {
    /// What the rank in the mark is.
    pub by: RankedBy,
    /// Vertigo's delta: a pause between two packets of a flow that is longer ends a flowlet. Then what was sent before
    /// it does not count as attained service any more; and a retransmission passes on, to all of its flowlet that was
    /// not sent before, that switches halve its rank. Left out: a flowlet ends with its message, and each packet counts
    /// for itself. (Practical Packet Deflection, code: as `host.reorder_buffer.timeout`.)
    #[serde(default, with = "Optional::<Duration>", skip_serializing_if = "Option::is_none")]
    pub flowlet_gap: Option<Duration>,
}

/// What a rank is: the lower, the more urgent. Each message of a connection is ranked by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RankedBy {
    /// Bytes of the message that remain, this packet's included: shortest remaining first. A flow without an end has
    /// the largest rank that the mark can say, 4294967295, for ever.
    RemainingBytes,
    /// Bytes of the message sent before this packet: least attained service first.
    AttainedService,
    /// What the differentiated services code point (DSCP) of the IP header says, which programs on real hosts can set:
    /// by class selector, 7 first (RFC 2474), 262144 B from one to the next, so that CS7 has rank 0 and the default
    /// 1835008; 65536 B more for each step of drop precedence of Assured Forwarding (RFC 2597); Lower Effort (RFC 8622)
    /// and CS1 last, 2097152. Packets without payload have no mark. In simulations the code point is the class selector
    /// of the group's `class`; live the mark takes no room on links.
    Dscp,
}

/// The reorder buffer. It goes by what marks say; in groups with `rank` or `rank_divisor`, and for flows without an
/// end, where ranks are no positions, by the transport's sequence numbers.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReorderBufferSettings {
    /// How long a packet is held for one that is missing before it. (Practical Packet Deflection, code: 360 us at 10
    /// Gbps,
    /// 1.2 ms at 1 Gbps.)
    #[serde(with = "Text::<Duration>")]
    pub timeout: Duration,
}

/// Delays between a transport and the network card.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct StackSettings {
    /// From the transport handing over a packet to the card.
    #[serde(with = "Text::<Duration>")]
    pub send: Duration,
    /// From the last bit of a frame to the transport.
    #[serde(with = "Text::<Duration>")]
    pub receive: Duration,
    /// What comes on top of both, drawn anew for packets that enter at different moments; a flow's packets keep their
    /// order.
    pub jitter: Jitter,
}

/// Delays between a transport in the kernel and the network card, and how the kernel takes packets from the card.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct KernelSettings {
    /// From the transport handing over a packet to the card.
    #[serde(with = "Text::<Duration>")]
    pub send: Duration,
    /// From the last bit of a frame to the transport; with `gro` from an interrupt to the poll.
    #[serde(with = "Text::<Duration>")]
    pub receive: Duration,
    /// What comes on top of both, drawn anew for packets that enter at different moments; a flow's packets keep their
    /// order. With `gro` one draw is for all packets of a poll.
    pub jitter: Jitter,
    /// Packets wait in the card until the kernel polls it, and consecutive data of a TCP flow is merged (Linux: NAPI
    /// and generic receive offload). Left out: each packet goes to its transport by itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gro: Option<GroSettings>,
}

/// Interrupt moderation and generic receive offload, as in Linux (Documentation/networking/napi.rst, net/core/gro.c,
/// net/ipv4/tcp_offload.c). The first packet in an empty ring leads to an interrupt, after the kernel's receive delay
/// to a poll, and the poll takes what has come by then; each end of a flow has a ring of its own. Of TCP, data of
/// consecutive sequence numbers becomes one segment below 64 KB, which the receiver counts by its packets and answers
/// by one acknowledgement. Not merged are: another ECN field, time to live, flags, acknowledgement, window or timestamp
/// (by the millisecond, as before Linux 6.7); CWR; a longer segment than the first; packets with Bolt's option, with a
/// mark or cut by a switch. PSH, and a shorter segment, end what is merged. Acknowledgements, UDP and packet pair are
/// polled, but not merged; RoCE is not in the kernel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct GroSettings {
    /// From the first packet to the interrupt (ethtool: rx-usecs).
    #[serde(with = "Text::<Duration>")]
    pub interrupt_delay: Duration,
    /// So many packets in the ring raise the interrupt at once (ethtool: rx-frames). Left out: only time does.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub interrupt_packets: Option<u32>,
}

impl From<KernelSettings> for StackSettings {
    fn from(KernelSettings { send, receive, jitter, .. }: KernelSettings) -> Self {
        Self { send, receive, jitter }
    }
}

impl From<GroSettings> for hitless_hosts::GroConfig {
    fn from(settings: GroSettings) -> Self {
        let GroSettings { interrupt_delay, interrupt_packets } = settings;
        Self { interrupt_delay, interrupt_packets }
    }
}

impl From<StackSettings> for hitless_hosts::StackConfig {
    fn from(settings: StackSettings) -> Self {
        let delay = |fixed| hitless_hosts::DelayConfig { fixed, jitter: settings.jitter };
        Self { send: delay(settings.send), receive: delay(settings.receive) }
    }
}

impl Default for HostSettings {
    fn default() -> Self {
        Self {
            kernel: KernelSettings::default(),
            network_card: StackSettings::default(),
            tcp_small_queues: true,
            nic_queue: QueueLength::Packets(4_000),
            timer_tick: Duration::ZERO,
            time_to_live: hitless_core::wire::Packet::INITIAL_TTL,
            priority_tagger: None,
            reorder_buffer: None,
        }
    }
}

/// A transport with its parameters, for `[[flows]]` to name.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TransportSettings {
    /// What `[[flows]]` call it; unique.
    pub name: String,
    /// Which protocol, and its parameters.
    #[serde(flatten)]
    pub protocol: Protocol,
}

/// The protocol of a transport.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Protocol {
    /// TCP.
    Tcp(TcpSettings),
    /// RoCEv2, reliable connection, RDMA WRITE.
    Roce(RoceSettings),
    /// UDP at a constant rate.
    Udp(UdpSettings),
    /// Packet-pair flow control for fair-queueing switches, with TCP's loss recovery (AFQ, section 5 and appendix A).
    PacketPair(PacketPairSettings),
}

impl TransportSettings {
    /// Returns the transport on hosts like `host`. Links add `wire_overhead_bytes` to each frame, and datagrams arrive
    /// at most `lateness` after the last was sent, unless the settings say otherwise.
    pub(crate) fn config(&self, host: &HostSettings, wire_overhead_bytes: u32, lateness: Duration) -> TransportConfig {
        let timer_tick = host.timer_tick;
        match &self.protocol {
            Protocol::Tcp(tcp) => TransportConfig::Tcp(TcpSettings { timer_tick, ..*tcp }),
            Protocol::Roce(roce) => TransportConfig::Roce(RoceSettings { wire_overhead_bytes, ..*roce }),
            Protocol::Udp(udp) => {
                let linger = udp.linger.or(Some(UdpSettings::LINGER_MIN.max(lateness)));
                TransportConfig::Udp(UdpSettings { wire_overhead_bytes, linger, ..*udp })
            }
            Protocol::PacketPair(pair) => TransportConfig::PacketPair(PacketPairSettings { timer_tick, ..*pair }),
        }
    }
}
