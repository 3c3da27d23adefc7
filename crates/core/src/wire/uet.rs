//! The header of a spraying transport for AI fabrics, modelled on Ultra Ethernet's own simulator.
//!
//! Each packet carries an entropy value. Switches hash it together with the 5-tuple, so that it selects the path;
//! acknowledgements echo it. The fields are those that the simulator exchanges; the layout of the specification was
//! not read.

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, crate::state::Value)]
pub enum UetHeader {
    Data(UetData),
    /// Acknowledgement with a SACK bitmap.
    Acknowledgement(UetAcknowledgement),
    /// A data packet arrived without its payload: a switch has trimmed it.
    NegativeAcknowledgement(UetNegative),
    /// Credit from the receiver.
    Credit(UetCredit),
    /// The sender asks for credit without data to carry the request.
    Request(UetRequest),
    /// Test of a retired path.
    Probe(UetProbe),
    /// The echo of a probe.
    ProbeEcho(UetProbe),
    /// The sender asks for an acknowledgement after a pause. The probe waits in the queues of the data.
    TailProbe(UetProbe),
    /// The answer to a tail probe. Its bitmap starts after the first missing packet.
    TailAnswer(UetAcknowledgement),
}

impl UetHeader {
    /// Returns the entropy value, which selects the path.
    #[inline]
    pub fn entropy(&self) -> u16 {
        match self {
            Self::Data(data) => data.entropy,
            Self::Acknowledgement(acknowledgement) | Self::TailAnswer(acknowledgement) => acknowledgement.entropy,
            Self::NegativeAcknowledgement(negative) => negative.entropy,
            Self::Credit(credit) => credit.entropy,
            Self::Request(request) => request.entropy,
            Self::Probe(probe) | Self::ProbeEcho(probe) | Self::TailProbe(probe) => probe.entropy,
        }
    }

    /// Returns whether the receiving end of a connection has sent the packet.
    pub fn is_from_receiver(&self) -> bool {
        match self {
            Self::Data(_) | Self::Request(_) | Self::Probe(_) | Self::TailProbe(_) => false,
            Self::Acknowledgement(_)
            | Self::NegativeAcknowledgement(_)
            | Self::Credit(_)
            | Self::ProbeEcho(_)
            | Self::TailAnswer(_) => true,
        }
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, crate::state::Value)]
pub struct UetData {
    /// Number of the packet in its flow, from 0 (packet sequence number).
    pub sequence: u64,
    /// Total credit in bytes that the sender wants to have been given.
    pub credit_target: u64,
    pub payload_bytes: u32,
    pub entropy: u16,
    pub is_retransmission: bool,
    /// Whether the receiver must acknowledge the packet at once.
    pub acknowledge_now: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, crate::state::Value)]
pub struct UetAcknowledgement {
    /// All packets below this number have arrived.
    pub cumulative: u64,
    /// Number of the packet of the bitmap's lowest bit.
    pub bitmap_base: u64,
    /// Packets that have arrived beyond a gap.
    pub bitmap: u64,
    /// Number of the packet that caused the acknowledgement.
    pub acknowledged: u64,
    /// Total frame bytes of all packets that have arrived, each counted once.
    pub received_bytes: u64,
    /// Number of packets that wait beyond a gap.
    pub out_of_order: u32,
    pub entropy: u16,
    /// Echo of Congestion Experienced.
    pub congestion: bool,
    /// Echo of [`UetData::is_retransmission`].
    pub is_retransmission: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, crate::state::Value)]
pub struct UetNegative {
    /// Number of the trimmed packet.
    pub sequence: u64,
    pub entropy: u16,
    pub is_retransmission: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, crate::state::Value)]
pub struct UetCredit {
    /// Total bytes granted since the start of the flow.
    pub granted_bytes: u64,
    pub entropy: u16,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, crate::state::Value)]
pub struct UetRequest {
    /// Total credit in bytes that the sender wants to have been given.
    pub credit_target: u64,
    pub entropy: u16,
}

/// The fields of a probe and of its echo.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, crate::state::Value)]
pub struct UetProbe {
    /// Path to test.
    pub entropy: u16,
}
