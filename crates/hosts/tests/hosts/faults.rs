//! Random behaviour of a pipe: loss, reordering, duplication and marking.

use crate::pipe::{Delays, Way};
use hitless_wire::{Duration, Packet};
use proptest::prelude::*;
use rand::{Rng, RngExt, SeedableRng};

/// How a pipe treats packets.
#[derive(Clone, Copy, Debug, Default)]
pub struct Faults {
    pub loss: f64,
    pub reordering: f64,
    pub duplication: f64,
    pub marking: f64,
    pub acknowledgement_loss: f64,
}

/// Probabilities from none to many.
pub fn faults() -> impl Strategy<Value = Faults> {
    let probability = || prop_oneof![Just(0.0), 0.0..0.02, 0.0..0.3f64];
    (probability(), probability(), probability(), probability(), probability()).prop_map(
        |(loss, reordering, duplication, marking, acknowledgement_loss)| Faults {
            loss,
            reordering,
            duplication,
            marking,
            acknowledgement_loss,
        },
    )
}

/// Decides over packets with random numbers from `seed`.
pub fn fate(faults: Faults, seed: u64) -> impl FnMut(Way, &mut Packet) -> Delays {
    let mut random = rand_pcg::Pcg64Mcg::seed_from_u64(seed);
    let base = Duration::from_us(10);
    move |way, packet| {
        let loss = if way == Way::Data { faults.loss } else { faults.acknowledgement_loss };
        if random.random_bool(loss) {
            return [None, None];
        }
        if way == Way::Data && random.random_bool(faults.marking) {
            packet.mark_congestion();
        }
        let delay = |random: &mut rand_pcg::Pcg64Mcg| {
            let late = random.random_bool(faults.reordering);
            base + if late { Duration::from_ns(random.next_u64() % 50_000) } else { Duration::ZERO }
        };
        let copy = random.random_bool(faults.duplication).then(|| delay(&mut random));
        [Some(delay(&mut random)), copy]
    }
}
