//! Datagrams at a constant rate, and a sink that counts them.
//!
//! Nothing is acknowledged or retransmitted. Data sent by a [`UdpSender`] counts as acknowledged, so a completed flow
//! was sent but may not have arrived. The driver keeps the [`UdpSink`] for [`LINGER`] longer.

mod config;
mod numbers;
mod sender;
mod sink;

pub use config::{LINGER, UdpSettings};
pub use sender::UdpSender;
pub use sink::UdpSink;
