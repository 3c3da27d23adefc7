//! Datagrams at a constant rate, and a sink that counts them.
//!
//! Nothing is acknowledged or retransmitted. Bytes count as acknowledged when a [`UdpSender`] has sent them, so "done"
//! means sent, not arrived. The driver of the two ends keeps the [`UdpSink`] for [`UdpSettings::linger`] longer.

mod config;
mod numbers;
mod sender;
mod sink;

pub use config::UdpSettings;
pub use sender::UdpSender;
pub use sink::UdpSink;
