//! The links that a policy may take down.

use crate::LossSum;
use crate::network::{Corruption, Network};
use crate::optimizer::Candidate;

/// Corrupting links of a pod, for a worth of one's choice.
pub fn candidates(network: &Network, pod: usize, worth: impl Fn(&Corruption) -> LossSum) -> Vec<Candidate> {
    let corrupting = network.corrupting_in(pod).iter();
    corrupting.map(|(&link, corruption)| Candidate { link, worth: worth(corruption) }).collect()
}
