//! BBR, version 1 (draft-cardwell-iccrg-bbr-congestion-control-00; Linux's tcp_bbr.c where the draft is older).
//!
//! The path is described by two numbers: the rate at which its bottleneck delivers ([`bandwidth`], the largest sample
//! of ten round trips) and its round-trip time without queues (the smallest of ten seconds). The sender paces at a
//! multiple of the rate and lets a multiple of their product be in flight; [`modes`] decides which multiples,
//! [`window`] follows the product and responds to losses, [`aggregation`] makes room where acknowledgements come in
//! bunches.
//!
//! # Exceptions
//! - The estimate of a token-bucket policer's rate (long-term sampling in Linux) is left out.
//! - The largest sample of ten round trips is exact; Linux keeps the best three of ten.
//! - Round-trip times are never discounted as delayed by the receiver.
//! - What waits in the network card is in flight; Linux subtracts what pacing will have sent by the time it leaves.

mod aggregation;
mod bandwidth;
mod control;
mod modes;
mod state;
mod window;

#[cfg(test)]
mod tests;

pub(super) use state::Bbr;
pub use state::PathModel;
