//! TCP: NewReno, CUBIC, DCTCP, BBR, Swift and Bolt over SACK with RACK-TLP, or over the classic duplicate
//! acknowledgements.
//!
//! [`TcpSender`] and [`TcpReceiver`] are the two ends of a connection that carries data one way; [`TcpSettings`]
//! configures both. To read it, start at the bottom: `ticks` (firing of timers), `rto` (RFC 6298), `ring` and
//! `scoreboard` (segments in flight), `delivery` (data delivered by an acknowledgement), `rack` (loss by time, RFC
//! 8985), `congestion` (RFC 5681, 9438, 8257; BBR; Swift; Bolt), `delivery_rate` (its samples), `prr` (RFC 9937),
//! `pacing`, `reassembly` (RFC 2018), and the two ends.
//! Other crates can add congestion controls: [`congestion::OwnCongestion`].
//!
//! An application may write several times over the life of a connection: window, round-trip time and DCTCP's alpha
//! persist.
//!
//! # Exceptions
//! Deliberate differences from the RFCs and from Linux:
//!
//! - Data flows one way. There is no RST; a connection never gives up. If applications close ([`TcpSettings::close`]),
//!   FIN marks the last segment. It takes no sequence number, and the receiver's FIN is the acknowledgement that would
//!   carry it.
//! - Sequence numbers are offsets in the flow. SYN takes no sequence number; the third packet of the handshake is the
//!   first data segment. The receiver never repeats a SYN-ACK on its timer; it answers a repeated SYN.
//! - Each write is sent at once, and its last segment can be short, unless [`TcpSettings::nagle`] is set. Segments are
//!   never split or joined when they are retransmitted.
//! - The receive window is constant: applications read at once. No silly-window avoidance, no zero-window probes.
//! - Spurious retransmissions are detected by timestamps (RFC 3522), or optionally by DSACK (RFC 2883; only for a
//!   segment that arrived twice as a whole, because the header has no room for blocks below the acknowledgement), and
//!   undone (RFC 4015). Each widens RACK's reordering window, or raises the duplicate threshold above the reordering.
//!   The timestamp clock ticks about once a microsecond, finer than in Linux before version 6.7.
//! - RACK compares timestamps only for retransmissions acknowledged in order; for SACKed ones it uses only the minimum
//!   round-trip time, as in Linux. That minimum is over the life of the connection.
//! - Without RACK, lost retransmissions are detected by timeout only; there is no rescue retransmission (RFC 6675,
//!   section 4, rule 4) and no F-RTO (RFC 5682).
//! - Round-trip samples are exact; RTTVAR follows RFC 6298 instead of Linux's maximum over a round trip.
//! - Thresholds are computed from the congestion window, as in Linux, instead of the flight (RFC 5681, equation 4). In
//!   return, the window only grows while it limits the sender (RFC 7661), unless `window_validation` is off.
//! - Without SACK, the round-trip sample of a filled gap uses the timestamp (RFC 7323, section 4.3): originals above
//!   the gap may have arrived long before.
//! - Without SACK, [`TcpRecovery::Reno`] omits RFC 6582. It has no limited transmit, does not restart the timer at a
//!   fast retransmit, and restarts the count of duplicates after an acknowledgement overtaken by another, like 4.4BSD.
//! - With [`TcpRecovery::Newreno`] and [`WindowGrowth::ByteCounting`] the window also grows by the data that the
//!   duplicate acknowledgements before a recovery deliver. RFC 3042 sends new data for the first two without changing
//!   the window, and Linux grows it only for acknowledgements that advance.
//! - After a congestion echo the window shrinks over one round trip by PRR and does not grow meanwhile, as in Linux;
//!   RFC 8257 cuts it at once.
//! - There is no HyStart (RFC 9406), which ends slow start before the first loss in Linux's CUBIC.
//! - Delayed acknowledgements count packets instead of full segments, and have a fixed timeout (Linux adapts it).
//!   Packets merged by receive offload count separately.
//! - Timers fire like the first level of Linux's timer wheel; the coarser levels are not modelled.

pub mod congestion;
mod delivery;
mod delivery_rate;
mod pacing;
mod prr;
mod rack;
mod reassembly;
mod receiver;
mod ring;
mod rto;
mod scoreboard;
mod sender;
mod settings;
mod ticks;

pub use congestion::{
    BbrSettings, BoltReaction, BoltTransportSettings, Congestion, CongestionName, CongestionState, CubicSettings,
    CubicTime, DctcpEstimate, DctcpSettings, NewrenoSettings, PathModel, SwiftSettings, WindowGrowth,
};
pub use receiver::TcpReceiver;
pub use sender::TcpSender;
pub use settings::{CloseSettings, RtoFormula, TcpRecovery, TcpSettings};
