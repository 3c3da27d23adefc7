//! Datagrams at a constant rate, and a sink that counts what became of them.
//!
//! Nothing is acknowledged and nothing is sent again. What a [`UdpSender`] has sent counts as acknowledged, so
//! "done" means sent, not arrived; whoever drives the two ends keeps the [`UdpSink`] for [`UdpSettings::linger`] longer.

mod config;
mod numbers;
mod sender;
mod sink;

pub use config::UdpSettings;
pub use sender::UdpSender;
pub use sink::UdpSink;
