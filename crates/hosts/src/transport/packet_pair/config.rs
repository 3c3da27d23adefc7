//! Parameters of both ends of a packet-pair connection.

use hitless_wire::Duration;

use crate::transport::tcp::{CongestionControlConfig, DctcpConfig, DelayedAck, TcpConfig};

/// Parameters of a connection; one value configures both ends.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PacketPairConfig {
    /// Segments, loss recovery, timers, ECN, and the acknowledgement of a first packet whose second does not come.
    ///
    /// The congestion control must be DCTCP: its estimate of the fraction of marked bytes is used, its window is not.
    /// There is no handshake, and [`TcpConfig::segments_per_burst`] has no meaning.
    pub recovery: TcpConfig,
    /// Weight of the newest gap in the moving average (GAIN of figure 13).
    pub gap_gain: f64,
    /// A pair is begun while no more than this many bandwidth-delay products are in flight (CWND_FACTOR of figure 13;
    /// section 5: 1.5).
    pub window_factor: f64,
    /// AFQ's bytes per round on the way; 0 or up to a full frame: pairs are sent back to back.
    pub bytes_per_round: u32,
    /// Forget the estimate when nothing was sent for longer than a round trip.
    pub restart_after_idle: bool,
}

impl Default for PacketPairConfig {
    /// The paper's values where it gives them; TCP's defaults for loss recovery.
    fn default() -> Self {
        let ack_delay = Duration::from_ms(1);
        // Nothing is marked before anything was sent: an estimate of 1, as RFC 8257 has it, would halve the first rate.
        let marking = DctcpConfig { initial_alpha: 0.0, ..DctcpConfig::default() };
        Self {
            recovery: TcpConfig {
                congestion_control: CongestionControlConfig::Dctcp(marking),
                delayed_ack: DelayedAck::On { segments: 2, timeout: ack_delay, quickack_segments: 0 },
                tlp_max_ack_delay: ack_delay,
                ..TcpConfig::dctcp()
            },
            gap_gain: 0.25,
            window_factor: 1.5,
            bytes_per_round: 0,
            restart_after_idle: true,
        }
    }
}

impl PacketPairConfig {
    /// A frame with a full segment.
    pub(super) fn full_frame_bytes(&self) -> u32 {
        self.recovery.data_frame_bytes(self.recovery.mss_bytes)
    }

    /// Stops on values no connection can work with.
    ///
    /// # Panics
    /// For a gain outside of (0, 1], a factor that is not above 0, another congestion control than DCTCP, a handshake.
    pub(super) fn check(&self) {
        assert!(self.gap_gain > 0.0 && self.gap_gain <= 1.0, "gap_gain must be above 0 and at most 1");
        assert!(self.window_factor > 0.0 && self.window_factor.is_finite(), "window_factor must be above 0");
        assert!(!self.recovery.handshake, "packet pair has no handshake");
        assert!(
            matches!(self.recovery.congestion_control, CongestionControlConfig::Dctcp(_)),
            "packet pair estimates marking as DCTCP does"
        );
    }
}
