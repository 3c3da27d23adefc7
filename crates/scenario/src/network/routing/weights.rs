//! Weighted next hops: a port appears in its list as often as its weight, so that a lookup costs the same as without
//! weights (WCMP, Zhou et al., EuroSys 2014, section 3).

use hitless_core::wire::PortId;

use crate::network::topology::{Node, SwitchId, Topology};

/// Maximum sum of the weights of a list. Weights with a larger sum are rounded to this sum.
const WEIGHTS_MAX: u64 = 1_024;

/// The capacity of the paths from each switch to one destination.
pub(super) struct Capacities<'a, Hops> {
    topology: &'a Topology,
    hops_of: Hops,
    /// In bits per second, by switch.
    known: Vec<Option<u64>>,
}

impl<'a, Hops: Fn(SwitchId) -> Vec<PortId>> Capacities<'a, Hops> {
    /// Starts at the switches of the destination, with the capacity from each of them. `hops_of` finds the next hops of
    /// a switch.
    pub fn new(topology: &'a Topology, destination: &[(SwitchId, u64)], hops_of: Hops) -> Self {
        let mut known = vec![None; topology.switches.len()];
        destination.iter().for_each(|&(switch, bits_per_s)| known[switch.0 as usize] = Some(bits_per_s));
        Self { topology, hops_of, known }
    }

    /// Returns the sum over the next hops of a switch.
    fn of_switch(&mut self, switch: SwitchId) -> u64 {
        if let Some(known) = self.known[switch.0 as usize] {
            return known;
        }
        let hops = (self.hops_of)(switch);
        let sum = hops.iter().fold(0, |sum: u64, &hop| sum.saturating_add(self.of_hop(switch, hop)));
        self.known[switch.0 as usize] = Some(sum);
        sum
    }

    /// Returns the capacity of the paths through a port; its link limits it.
    fn of_hop(&mut self, switch: SwitchId, hop: PortId) -> u64 {
        let port = self.topology.switch(switch).ports[usize::from(hop.0)];
        let Node::Switch(next) = port.peer.node else { return 0 };
        self.topology.spec(port.link).rate.as_bps().min(self.of_switch(next))
    }

    /// Returns the next hops of a switch, each repeated by its weight.
    pub fn repeated_hops(&mut self, switch: SwitchId) -> Vec<PortId> {
        let hops = (self.hops_of)(switch);
        let capacities: Vec<u64> = hops.iter().map(|&hop| self.of_hop(switch, hop)).collect();
        let repeated = hops.iter().zip(weights(&capacities));
        repeated.flat_map(|(&hop, weight)| std::iter::repeat_n(hop, weight as usize)).collect()
    }
}

/// Returns the smallest weights in the ratio of the capacities. A sum above [`WEIGHTS_MAX`] is rounded to it; the
/// minimum weight is 1.
fn weights(capacities: &[u64]) -> Vec<u64> {
    let divisor = capacities.iter().copied().fold(0, greatest_common_divisor).max(1);
    let exact = capacities.iter().map(|capacity| capacity / divisor);
    let sum = exact.clone().fold(0, u64::saturating_add);
    if sum <= WEIGHTS_MAX {
        return exact.map(|weight| weight.max(1)).collect();
    }
    let share = |weight: u64| (u128::from(weight) * u128::from(WEIGHTS_MAX) + u128::from(sum) / 2) / u128::from(sum);
    exact.map(|weight| (share(weight) as u64).max(1)).collect()
}

const fn greatest_common_divisor(mut a: u64, mut b: u64) -> u64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_are_the_smallest_in_the_ratio_of_the_capacities() {
        const G: u64 = 1_000_000_000;
        let cases: [(&[u64], &[u64]); 6] = [
            (&[100 * G, 100 * G], &[1, 1]),
            (&[100 * G, 10 * G], &[10, 1]),
            (&[25 * G, 40 * G, 100 * G], &[5, 8, 20]),
            // 1,024 x 99,999 / 100,000 and 1,024 / 100,000, but at least 1.
            (&[99_999, 1], &[1_024, 1]),
            (&[G + 1, G], &[512, 512]),
            (&[7 * G], &[1]),
        ];
        for (capacities, expected) in cases {
            assert_eq!(weights(capacities), expected, "{capacities:?}");
        }
    }
}
