//! Random behaviour of a pipe: loss, reordering, duplication and marking.

use crate::pipe::{Delays, Pipe, Way};
use hitless_core::wire::{Duration, Packet};
use hitless_hosts::transport::{Receiver, Sender};
use proptest::prelude::*;
use rand::{Rng, RngExt, SeedableRng};

/// The probabilities of faults in a pipe.
#[derive(Clone, Copy, Debug, Default)]
pub struct Faults {
    pub loss: f64,
    pub reordering: f64,
    pub duplication: f64,
    pub marking: f64,
    pub acknowledgement_loss: f64,
}

/// Generates probabilities from zero to high.
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

/// Decides the fate of packets with random numbers from `seed`.
fn fate(faults: Faults, seed: u64) -> impl FnMut(Way, &mut Packet) -> Delays {
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

/// Runs `writes` through a pipe with these faults, each after the previous one was acknowledged.
pub fn run<S: Sender, R: Receiver>(
    (sender, receiver): (S, R),
    faults: Faults,
    writes: &[u64],
    seed: u64,
) -> Pipe<S, R, impl FnMut(Way, &mut Packet) -> Delays + use<S, R>> {
    let mut pipe = Pipe::new(sender, receiver, fate(faults, seed));
    pipe.deliver(writes);
    pipe
}

/// Checks that two runs agree: in their end, and in the counters of both ends.
pub fn assert_repeats<S: Sender, R: Receiver>(ends: impl Fn() -> (S, R), faults: Faults, bytes: u64, seed: u64) {
    let (first, second) = (run(ends(), faults, &[bytes], seed), run(ends(), faults, &[bytes], seed));
    assert_eq!(first.now, second.now);
    assert_eq!(first.sender.statistics(), second.sender.statistics());
    assert_eq!(first.receiver.statistics(), second.receiver.statistics());
}
