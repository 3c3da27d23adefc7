//! Units, packets and wire formats: the lowest layer.
//!
//! Everything above shares these types: [`units`] (integer picoseconds, bytes, bits per second), the [`packet::Packet`]
//! descriptor that travels through hosts and switches, the [`shim`] stack of headers that mechanisms put on a packet,
//! and the formats that hosts and switches share. This module does not depend on switches or hosts.

pub mod bolt;
pub mod capture;
pub mod checksum;
pub mod credits;
pub mod frame;
pub mod line_clock;
pub mod link;
pub mod mac_control;
pub mod packet;
pub mod pauses;
pub mod priority_mark;
pub mod shim;
pub mod transport;
pub mod trimmed;
pub mod uet;
pub mod units;

pub use bolt::{BoltFlags, CongestionNotice};
pub use credits::{CreditRules, ReceiverCredits, SenderCredits};
pub use line_clock::{LineClock, LineTiming};
pub use mac_control::OrderedSet;
pub use packet::{Ecn, FlowId, HostId, Packet, PortId, QueueId, ServiceKey};
pub use pauses::{PauseEnd, Pauses};
pub use priority_mark::PriorityMark;
pub use shim::{Shim, ShimId, ShimStack};
pub use transport::{
    PacketPairAcknowledgement, PacketPairData, PacketPairHeader, PairPosition, RoceHeader, RoceOpcode, SackBlocks,
    TcpFlags, TcpHeader, Transport, UdpHeader,
};
pub use uet::{UetAcknowledgement, UetCredit, UetData, UetHeader, UetNegative, UetProbe, UetRequest};
pub use units::{BitRate, Bytes, Duration, Time};
