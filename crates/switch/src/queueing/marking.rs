//! Which packets are marked at enqueue, by the depth of their queue.

use hitless_core::engine::{RandomStreams, Stream, draws};
use hitless_core::state::{Damaged, Reader, State, Writer};

/// From what instantaneous depth on an ECN-capable packet is marked at enqueue (RFC 8257, section 3.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EcnThreshold {
    /// Never.
    Off,
    /// When so many packets are before it.
    Packets(u32),
    /// When so many bytes are before it.
    Bytes(u64),
    /// By chance.
    Ramp(EcnRamp),
}

/// What a depth is counted in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DepthUnit {
    /// Packets.
    Packets,
    /// Bytes.
    Bytes,
}

/// Marking with a probability that grows with the instantaneous depth: none below `minimum`, then in a straight line up
/// to a probability at `maximum`, and every packet from there on (RED's curve, Floyd and Jacobson 1993, without its
/// average; DCQCN, section 3.1, figure 5: Kmin, Kmax, Pmax).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EcnRamp {
    unit: DepthUnit,
    minimum: u64,
    maximum: u64,
    /// The probability at `maximum`, in parts of 2^32.
    probability: u64,
    seed: u64,
}

const WHOLE: u64 = 1 << 32;

impl EcnRamp {
    /// A ramp from `minimum` to `maximum`, where it reaches `probability`; it draws from a stream made of `seed`.
    ///
    /// # Panics
    /// When it does not rise: `maximum` is not above `minimum`, or the probability is not from 0 to 1.
    pub fn new(unit: DepthUnit, minimum: u64, maximum: u64, probability: f64, seed: u64) -> Self {
        assert!(minimum < maximum, "a ramp from {minimum} to {maximum}");
        assert!((0.0..=1.0).contains(&probability), "a probability of {probability}");
        Self { unit, minimum, maximum, probability: (probability * WHOLE as f64) as u64, seed }
    }

    /// Whether a draw marks a packet before which the queue is `packets` and `bytes` long.
    fn marks(&self, packets: usize, bytes: u64, stream: &mut Stream) -> bool {
        let depth = match self.unit {
            DepthUnit::Packets => packets as u64,
            DepthUnit::Bytes => bytes,
        };
        if depth < self.minimum {
            return false;
        }
        if depth >= self.maximum {
            return true;
        }
        let drawn = draws::below(stream, WHOLE as usize) as u128;
        drawn * u128::from(self.maximum - self.minimum)
            < u128::from(self.probability) * u128::from(depth - self.minimum)
    }
}

/// What decides over the packets of one queue.
#[derive(Clone, Debug)]
pub(crate) enum EcnMarker {
    /// Nothing is marked.
    Off,
    /// From so many packets on.
    Packets(u32),
    /// From so many bytes on.
    Bytes(u64),
    /// By chance. Boxed: a queue without it need not be larger.
    Ramp(Box<(EcnRamp, Stream)>),
}

/// All but the stream is as it was built.
impl State for EcnMarker {
    fn save(&self, out: &mut Writer) {
        match self {
            Self::Off | Self::Packets(_) | Self::Bytes(_) => {}
            Self::Ramp(ramp) => out.value(&ramp.1),
        }
    }

    fn load(&mut self, from: &mut Reader<'_>) -> Result<(), Damaged> {
        match self {
            Self::Off | Self::Packets(_) | Self::Bytes(_) => {}
            Self::Ramp(ramp) => ramp.1 = from.value()?,
        }
        Ok(())
    }
}

impl EcnMarker {
    /// A marker at the start of a run.
    pub fn new(threshold: EcnThreshold) -> Self {
        match threshold {
            EcnThreshold::Off => Self::Off,
            EcnThreshold::Packets(packets) => Self::Packets(packets),
            EcnThreshold::Bytes(bytes) => Self::Bytes(bytes),
            EcnThreshold::Ramp(ramp) => Self::Ramp(Box::new((ramp, RandomStreams::new(ramp.seed).stream("marking")))),
        }
    }

    /// Packets and bytes below which nothing is marked.
    pub fn mark_free_below(&self) -> (usize, u64) {
        match self {
            Self::Off => (usize::MAX, u64::MAX),
            Self::Packets(threshold) => (*threshold as usize, u64::MAX),
            Self::Bytes(threshold) => (usize::MAX, *threshold),
            Self::Ramp(ramp) => match ramp.0.unit {
                DepthUnit::Packets => (ramp.0.minimum as usize, u64::MAX),
                DepthUnit::Bytes => (usize::MAX, ramp.0.minimum),
            },
        }
    }

    /// Whether a packet is marked before which the queue is `packets` and `bytes` long.
    #[inline]
    pub fn marks(&mut self, packets: usize, bytes: u64) -> bool {
        match self {
            Self::Off => false,
            Self::Packets(threshold) => packets >= *threshold as usize,
            Self::Bytes(threshold) => bytes >= *threshold,
            Self::Ramp(ramp) => draw(ramp, packets, bytes),
        }
    }
}

#[cold]
#[inline(never)]
fn draw((ramp, stream): &mut (EcnRamp, Stream), packets: usize, bytes: u64) -> bool {
    ramp.marks(packets, bytes, stream)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn marker(unit: DepthUnit, probability: f64, seed: u64) -> EcnMarker {
        EcnMarker::new(EcnThreshold::Ramp(EcnRamp::new(unit, 100, 300, probability, seed)))
    }

    #[test]
    fn marks_come_with_the_probability_of_the_depth() {
        // (depth, probability by hand): none, from 0 to 0.2 in a straight line, all.
        let table = [(0, 0.0), (99, 0.0), (100, 0.0), (150, 0.05), (200, 0.1), (299, 0.199), (300, 1.0), (900, 1.0)];
        for (depth, probability) in table {
            for unit in [DepthUnit::Packets, DepthUnit::Bytes] {
                let mut marker = marker(unit, 0.2, 7);
                let (packets, bytes) = if unit == DepthUnit::Packets { (depth, 0) } else { (0, depth as u64) };
                let draws = 100_000;
                let marked = (0..draws).filter(|_| marker.marks(packets, bytes)).count() as f64 / f64::from(draws);
                // Five standard deviations of a count of 100,000.
                let spread = 5.0 * (probability * (1.0 - probability) / f64::from(draws)).sqrt();
                assert!((marked - probability).abs() <= spread, "{unit:?} {depth}: {marked} against {probability}");
            }
        }
    }

    #[test]
    fn the_marks_of_a_seed_are_always_the_same() {
        let marks = |seed| {
            let mut marker = marker(DepthUnit::Bytes, 0.5, seed);
            (0..1_000).map(|_| marker.marks(0, 250)).collect::<Vec<_>>()
        };
        assert_eq!(marks(1), marks(1));
        assert_ne!(marks(1), marks(2));
    }

    #[test]
    fn what_is_below_is_never_marked() {
        for threshold in [EcnThreshold::Packets(5), EcnThreshold::Bytes(9_000), EcnThreshold::Off] {
            let mut marker = EcnMarker::new(threshold);
            let (packets, bytes) = marker.mark_free_below();
            assert!(!marker.marks(packets.saturating_sub(1), bytes - 1), "{threshold:?}");
        }
        assert_eq!(marker(DepthUnit::Bytes, 1.0, 1).mark_free_below(), (usize::MAX, 100));
    }
}
