//! BBR, version 1 (draft-cardwell-iccrg-bbr-congestion-control-00; Linux's tcp_bbr.c if it is newer).
//!
//! Two numbers describe the path: the delivery rate of its bottleneck ([`bandwidth`], the maximum sample of ten round
//! trips) and its round-trip time without queues (the minimum of ten seconds). The sender paces at a multiple of the
//! rate and limits the flight to a multiple of their product. [`modes`] selects the multiples, [`window`] follows the
//! product and responds to losses, and [`aggregation`] adds room for bursts of acknowledgements.
//!
//! # Exceptions
//! - The estimate of a token-bucket policer's rate (long-term sampling in Linux) is omitted.
//! - The maximum sample of ten round trips is exact; Linux keeps the best three of ten.
//! - Round-trip times are never discounted as delayed by the receiver.
//! - Packets waiting in the network card count as in flight; Linux subtracts the data that pacing will have sent by the
//!   time they leave.

mod aggregation;
mod bandwidth;
mod control;
mod modes;
mod state;
mod window;

#[cfg(test)]
mod tests;

pub(super) use state::Bbr;
pub use state::{BbrSettings, PathModel};
