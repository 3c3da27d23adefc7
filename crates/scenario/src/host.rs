//! `[host]` and `[[transport]]`: the senders and receivers.

use hitless_core::settings::quantity::{Optional, QueueLength, Text};
use hitless_core::wire::Duration;
use hitless_hosts::transport::packet_pair::PacketPairSettings;
use hitless_hosts::transport::roce::RoceSettings;
use hitless_hosts::transport::tcp::TcpSettings;
use hitless_hosts::transport::udp::UdpSettings;
use hitless_hosts::transport::uet::UetSettings;
use hitless_hosts::{Jitter, TransportConfig};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::network::topology::Topology;
use crate::network::topology::select::select_hosts_by_pattern;

/// The hosts. All are alike, except those with `[[host.exceptions]]`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct HostSettings {
    /// Delays of packets with a transport in the kernel or in a program: TCP, UDP.
    pub kernel: KernelSettings,
    /// Delays of packets with a transport in the network card: RoCE, UET.
    pub network_card: StackSettings,
    /// Whether TCP waits for the card's backlog (Linux: TCP small queues). Otherwise TCP sends as much as its window
    /// allows.
    pub tcp_small_queues: bool,
    /// Maximum queue in the card; packets beyond it are dropped. Senders that wait for the card's backlog also wait
    /// for a place in this queue.
    #[serde(with = "Text::<QueueLength>")]
    pub nic_queue: QueueLength,
    /// Resolution of timers: 1 ms or 4 ms for Linux kernels with 1000 or 250 ticks per second; 0 s: exact timers.
    #[serde(with = "Text::<Duration>")]
    pub timer_tick: Duration,
    /// Initial time to live of packets: each switch takes one hop. (Linux: 64.)
    #[schemars(range(min = 1, max = 255))]
    pub time_to_live: u8,
    /// Mark of 8 B on data packets that gives their urgency, written below the transport (Vertigo, CoNEXT 2021, section
    /// 3.1). `[[flows]]` can fix or falsify its rank. Left out: only groups with a `rank` are marked. In live runs real
    /// hosts do not write this mark, so that only `by = "dscp"` has an effect.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub priority_tagger: Option<PriorityTaggerSettings>,
    /// Buffer that puts marked packets back into order below the receiving transport (Vertigo, section 3.3). Left out:
    /// packets go to the transport as they arrive.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reorder_buffer: Option<ReorderBufferSettings>,
    /// Exceptions for some hosts.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub exceptions: Vec<HostException>,
}

/// Settings of some hosts that differ from `[host]`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct HostException {
    /// The hosts: names, ranges such as "h0..h15", and patterns with `*` for any characters, such as "gpu*". A host has
    /// at most one exception.
    #[schemars(length(min = 1))]
    pub hosts: Vec<String>,
    /// Table in place of `host.kernel`; left out: as in `host.kernel`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kernel: Option<KernelSettings>,
    /// Table in place of `host.network_card`; left out: as in `host.network_card`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub network_card: Option<StackSettings>,
    /// Whether TCP waits for the card's backlog; left out: as in `[host]`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tcp_small_queues: Option<bool>,
    /// Maximum queue in the card; left out: as in `[host]`.
    #[serde(with = "Optional::<QueueLength>", skip_serializing_if = "Option::is_none")]
    pub nic_queue: Option<QueueLength>,
}

impl HostException {
    /// Returns whether the exception changes any setting.
    pub fn changes_something(&self) -> bool {
        let Self { hosts: _, kernel, network_card, tcp_small_queues, nic_queue } = self;
        kernel.is_some() || network_card.is_some() || tcp_small_queues.is_some() || nic_queue.is_some()
    }
}

impl HostSettings {
    /// Returns the settings of each host, with its exception applied.
    pub fn of_each(&self, topology: &Topology) -> Result<Vec<HostSettings>, String> {
        let plain = HostSettings { exceptions: Vec::new(), ..self.clone() };
        let mut settings = vec![plain; topology.hosts.len()];
        for exception in &self.exceptions {
            for host in select_hosts_by_pattern(topology, &exception.hosts)? {
                let own = &mut settings[host.0 as usize];
                own.kernel = exception.kernel.unwrap_or(own.kernel);
                own.network_card = exception.network_card.unwrap_or(own.network_card);
                own.tcp_small_queues = exception.tcp_small_queues.unwrap_or(own.tcp_small_queues);
                own.nic_queue = exception.nic_queue.unwrap_or(own.nic_queue);
            }
        }
        Ok(settings)
    }
}

/// The mark that senders write on data packets.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PriorityTaggerSettings {
    /// Meaning of the rank in the mark.
    pub by: RankedBy,
    /// Minimum pause between two packets of a flow that ends a flowlet (Vertigo's delta). After a flowlet ends, its
    /// bytes no longer count as attained service. A retransmission makes switches halve the rank of all packets of its
    /// flowlet that were not sent before. Left out: a flowlet ends with its message, and retransmissions do not affect
    /// other packets. (Practical Packet Deflection, code: equal to `host.reorder_buffer.timeout`.)
    #[serde(default, with = "Optional::<Duration>", skip_serializing_if = "Option::is_none")]
    pub flowlet_gap: Option<Duration>,
}

/// Meaning of a rank; a lower rank is more urgent. Each message of a connection is ranked separately.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RankedBy {
    /// Remaining bytes of the message, this packet included: shortest remaining first. A flow without an end always has
    /// the maximum rank of the mark, 4294967295.
    RemainingBytes,
    /// Bytes of the message sent before this packet: least attained service first.
    AttainedService,
    /// The differentiated services code point (DSCP) of the IP header, which programs on real hosts can set. Class
    /// selector 7 comes first (RFC 2474), and selectors are 262144 B apart, so that CS7 has rank 0 and the default
    /// 1835008. Each step of drop precedence of Assured Forwarding adds 65536 B (RFC 2597). Lower Effort (RFC 8622) and
    /// CS1 come last with 2097152. Packets without payload carry no mark. In simulations the code point is the class
    /// selector of the group's `class`; in live runs the mark takes no room on links.
    Dscp,
}

/// The reorder buffer. It orders packets by their marks. Ranks are not positions in groups with `rank` or
/// `rank_divisor` and for flows without an end; there it uses the transport's sequence numbers.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReorderBufferSettings {
    /// Maximum time that a packet is held for a missing predecessor. (Practical Packet Deflection, code: 360 us at 10
    /// Gbps, 1.2 ms at 1 Gbps.)
    #[serde(with = "Text::<Duration>")]
    pub timeout: Duration,
}

/// Delays between a transport and the network card.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct StackSettings {
    /// Delay from the transport to the card.
    #[serde(with = "Text::<Duration>")]
    pub send: Duration,
    /// Delay from the last bit of a frame to the transport.
    #[serde(with = "Text::<Duration>")]
    pub receive: Duration,
    /// Random addition to both delays, drawn for packets that enter at different times; a flow's packets keep their
    /// order.
    pub jitter: Jitter,
}

/// Delays between a transport in the kernel and the network card, and the kernel's polling of the card.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct KernelSettings {
    /// Delay from the transport to the card.
    #[serde(with = "Text::<Duration>")]
    pub send: Duration,
    /// Delay from the last bit of a frame to the transport; with `gro`, from an interrupt to the poll.
    #[serde(with = "Text::<Duration>")]
    pub receive: Duration,
    /// Random addition to both delays, drawn for packets that enter at different times; a flow's packets keep their
    /// order. With `gro` all packets of a poll share one draw.
    pub jitter: Jitter,
    /// Polling and merging: packets wait in the card until the kernel polls it, and consecutive data of a TCP flow is
    /// merged (Linux: NAPI and generic receive offload). Left out: each packet is delivered separately.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gro: Option<GroSettings>,
}

/// Interrupt moderation and generic receive offload, as in Linux (Documentation/networking/napi.rst, net/core/gro.c,
/// net/ipv4/tcp_offload.c). The first packet in an empty ring triggers an interrupt. The poll follows after the
/// kernel's receive delay and takes all packets present by then. Each end of a flow has a separate ring. TCP data with
/// consecutive sequence numbers becomes one segment below 64 KB, which the receiver counts by its packets and answers
/// with one acknowledgement. The following are not merged: packets with a different ECN field, time to live, flags,
/// acknowledgement, window or timestamp (in milliseconds, as before Linux 6.7); CWR; a segment longer than the first;
/// packets with Bolt's option, with a mark or cut by a switch. PSH or a shorter segment completes a merged segment.
/// Acknowledgements, UDP and packet pair are polled but not merged; RoCE bypasses the kernel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct GroSettings {
    /// Delay from the first packet to the interrupt (ethtool: rx-usecs).
    #[serde(with = "Text::<Duration>")]
    pub interrupt_delay: Duration,
    /// Number of packets in the ring that triggers the interrupt at once (ethtool: rx-frames). Left out: only the delay
    /// triggers it.
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
            exceptions: Vec::new(),
        }
    }
}

/// A transport with its parameters, referred to by `[[flows]]`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TransportSettings {
    /// Unique name, used by `[[flows]]`.
    pub name: String,
    /// Protocol and its parameters.
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
    /// Spraying connections of AI fabrics, with NSCC and RCCC, after the simulator of the Ultra Ethernet Consortium.
    Uet(UetSettings),
}

impl TransportSettings {
    /// Returns the configuration of the transport on hosts with `host`. Links add `wire_overhead_bytes` to each frame,
    /// and unless the settings say otherwise datagrams arrive at most `lateness` after the last one was sent.
    pub(crate) fn config(&self, host: &HostSettings, wire_overhead_bytes: u32, lateness: Duration) -> TransportConfig {
        let timer_tick = host.timer_tick;
        match &self.protocol {
            Protocol::Tcp(tcp) => TransportConfig::Tcp(TcpSettings { timer_tick, ..*tcp }),
            Protocol::Roce(roce) => TransportConfig::Roce(RoceSettings { wire_overhead_bytes, ..*roce }),
            Protocol::Udp(udp) => {
                let linger = udp.linger.or(Some(UdpSettings::LINGER_MIN.max(lateness)));
                TransportConfig::Udp(UdpSettings { wire_overhead_bytes, linger, ..*udp })
            }
            Protocol::Uet(uet) => TransportConfig::Uet(*uet),
            Protocol::PacketPair(pair) => TransportConfig::PacketPair(PacketPairSettings { timer_tick, ..*pair }),
        }
    }
}
