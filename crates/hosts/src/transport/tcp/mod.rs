//! TCP: NewReno, CUBIC, DCTCP, BBR, Swift and Bolt over SACK with RACK-TLP, or over the classic duplicate
//! acknowledgements.
//!
//! [`TcpSender`] and [`TcpReceiver`] are the two ends of a connection that carries data one way; [`TcpSettings`]
//! configures both. From the bottom: `ticks` (when timers fire), `rto` (RFC 6298), `ring` and `scoreboard` (what is
//! in flight), `delivery` (what an acknowledgement says of it), `rack` (what of it is lost, RFC 8985), `congestion`
//! (RFC 5681, 9438, 8257; BBR; Swift; Bolt), `delivery_rate` (its samples), `prr` (RFC 9937), `pacing`, `reassembly`
//! (RFC 2018), and the two ends.
//!
//! An application may write several times over the life of a connection: window, round-trip time and DCTCP's alpha
//! persist.
//!
//! # Exceptions
//! What differs from the RFCs and from Linux, on purpose:
//!
//! - Data flows one way. There is no RST; a connection never gives up. FIN marks the last segment where applications
//!   close ([`TcpSettings::close`]); it takes no sequence number, and the receiver's own is the acknowledgement that it
//!   would carry.
//! - Sequences are offsets in the flow. SYN takes no sequence number; the third packet of the handshake is the first
//!   data segment. The receiver never repeats a SYN-ACK by itself, it answers a repeated SYN.
//! - Each write goes out at once, its last segment may be short, unless [`TcpSettings::nagle`] asks for more. Segments
//!   are never split or joined when sent again.
//! - The receive window is constant: applications read at once. No silly-window avoidance, no zero-window probes.
//! - Spurious retransmissions are found by timestamps (RFC 3522), or by DSACK if asked for (RFC 2883; of a segment
//!   that came twice as a whole, since the header has no room for blocks below the acknowledgement), and undone (RFC
//!   4015); each widens RACK's reordering window, or raises the duplicate threshold above what was reordered. The
//!   timestamp clock ticks about once a microsecond, finer than in Linux before version 6.7.
//! - RACK compares timestamps only for retransmissions acknowledged in order; for those sacked, only with the smallest
//!   round-trip time, as in Linux. That minimum is over the life of the connection.
//! - Without RACK, losses of retransmissions are found by timeout only; no rescue retransmission (RFC 6675, section 4,
//!   rule 4), no F-RTO (RFC 5682).
//! - Round-trip samples are exact; RTTVAR is that of RFC 6298, not Linux's maximum over a round trip.
//! - Thresholds are computed from the congestion window, not from the flight (RFC 5681, equation 4), as in Linux; to
//!   make up for it the window only grows while it limits the sender (RFC 7661), unless
//!   [`TcpSettings::window_validation`] is off.
//! - Without SACK, the round-trip sample of what a retransmission fills is that of the timestamp (RFC 7323, section
//!   4.3): originals above the gap may have arrived long before.
//! - Without SACK, [`TcpRecovery::Reno`] leaves RFC 6582 out. It has no limited transmit, does not restart the timer
//!   at a fast retransmit, and counts duplicates anew after an acknowledgement that another has overtaken, as 4.4BSD
//!   did.
//! - With [`TcpRecovery::Newreno`] and [`WindowGrowth::ByteCounting`] the window also grows for what the duplicate
//!   acknowledgements before a recovery deliver. RFC 3042 sends new data
//!   for the first two without changing the window, and Linux grows it for acknowledgements that advance only.
//! - After an echo of congestion the window shrinks over one round trip by PRR and does not grow meanwhile, as in
//!   Linux; RFC 8257 cuts it at once.
//! - There is no HyStart (RFC 9406), which ends the slow start of Linux's CUBIC before the first loss.
//! - Delayed acknowledgements count packets, not full segments, and have a fixed timeout (Linux adapts it). What
//!   receive offload has merged counts as the packets that it was.
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
mod segment;
mod sender;
mod settings;
mod ticks;

pub use congestion::{
    BoltReaction, BoltTransportSettings, CongestionState, CubicTime, DctcpEstimate, PathModel, SwiftSettings,
    WindowGrowth,
};
pub use receiver::TcpReceiver;
pub use sender::TcpSender;
pub use settings::{CloseSettings, Congestion, RtoFormula, TcpRecovery, TcpSettings};
