//! `[[transport]]`: how flows send.

use hitless_hosts::TransportConfig;
use hitless_hosts::transport::packet_pair::PacketPairSettings;
use hitless_hosts::transport::roce::RoceSettings;
use hitless_hosts::transport::tcp::TcpSettings;
use hitless_hosts::transport::udp::UdpSettings;
use hitless_wire::Duration;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::host::HostSettings;

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
