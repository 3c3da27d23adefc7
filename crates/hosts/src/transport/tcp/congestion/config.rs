//! Which congestion control a connection has.

use super::bbr::BbrConfig;
use super::bolt::BoltTransportSettings;
use super::dctcp::DctcpConfig;
use super::swift::SwiftSettings;

/// Which algorithm sets the congestion window, with its parameters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum CongestionControlConfig {
    /// Slow start and congestion avoidance of RFC 5681.
    NewReno,
    /// CUBIC (RFC 9438).
    Cubic,
    /// DCTCP (RFC 8257); wants [`crate::transport::tcp::TcpConfig::ecn`].
    Dctcp(DctcpConfig),
    /// BBR, version 1 (draft-cardwell-iccrg-bbr-congestion-control-00); paces whatever
    /// [`crate::transport::tcp::TcpConfig::pacing`] says.
    Bbr(BbrConfig),
    /// Swift (Kumar et al., SIGCOMM 2020).
    Swift(SwiftSettings),
    /// Bolt (Arslan et al., NSDI 2023); wants switches that know it.
    Bolt(BoltTransportSettings),
}

hitless_state::value!(
    enum CongestionControlConfig {
        NewReno,
        Cubic,
        Dctcp(dctcp),
        Bbr(bbr),
        Swift(swift),
        Bolt(bolt),
    }
);

impl CongestionControlConfig {
    /// Whether chance has a part in it.
    pub fn draws(&self) -> bool {
        matches!(self, Self::Bbr(_))
    }

    /// What the receiver echoes beyond TCP's own fields.
    pub(in crate::transport::tcp) fn reflection(&self) -> Reflection {
        match self {
            Self::Swift(_) => Reflection::TimeToLive,
            Self::Bolt(_) => Reflection::Increases,
            Self::NewReno | Self::Cubic | Self::Dctcp(_) | Self::Bbr(_) => Reflection::Nothing,
        }
    }

    /// Whether data packets tell switches something.
    pub(in crate::transport::tcp) fn tells_switches(&self) -> bool {
        matches!(self, Self::Bolt(_))
    }
}

/// What a receiver echoes for the congestion control ([`hitless_wire::TcpHeader::congestion_option`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::transport::tcp) enum Reflection {
    /// Nothing.
    Nothing,
    /// The time to live of the newest data packet.
    TimeToLive,
    /// How many data packets that kept INC it answers.
    Increases,
}

hitless_state::value!(
    enum Reflection {
        Nothing,
        TimeToLive,
        Increases,
    }
);
