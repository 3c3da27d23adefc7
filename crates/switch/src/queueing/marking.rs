//! ECN marking by the depth of a queue.

use hitless_core::engine::{RandomStreams, Stream, draws};
use hitless_core::state::{Damaged, Reader, State, Writer};

/// The threshold of instantaneous depth for marking ECN-capable packets (RFC 8257, section 3.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EcnThreshold {
    /// Never marks.
    Off,
    /// Marks if this many packets or more are ahead.
    Packets(u32),
    /// Marks if this many bytes or more are ahead.
    Bytes(u64),
    /// Marks at random.
    Ramp(EcnRamp),
}

/// The unit of a depth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DepthUnit {
    /// Packets.
    Packets,
    /// Bytes.
    Bytes,
}

/// Marking with a probability that grows with the instantaneous depth: zero below `minimum`, linear up to `probability`
/// at `maximum`, and one from there (RED's curve, Floyd and Jacobson 1993, without its average; DCQCN, section 3.1,
/// figure 5: Kmin, Kmax, Pmax).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EcnRamp {
    unit: DepthUnit,
    minimum: u64,
    maximum: u64,
    /// Probability at `maximum`, in units of 2^-32.
    probability: u64,
    seed: u64,
}

const WHOLE: u64 = 1 << 32;

impl EcnRamp {
    /// Creates a ramp that rises from zero at `minimum` to `probability` at `maximum`. It draws from a stream derived
    /// from `seed`.
    ///
    /// # Panics
    /// If the ramp does not rise: `maximum` is not above `minimum`, or the probability is not between 0 and 1.
    pub fn new(unit: DepthUnit, minimum: u64, maximum: u64, probability: f64, seed: u64) -> Self {
        assert!(minimum < maximum, "a ramp from {minimum} to {maximum}");
        assert!((0.0..=1.0).contains(&probability), "a probability of {probability}");
        Self { unit, minimum, maximum, probability: (probability * WHOLE as f64) as u64, seed }
    }

    /// Draws whether to mark a packet with `packets` and `bytes` ahead of it in the queue.
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
        // Compares in integers, so that the result does not depend on the platform.
        let drawn = draws::below(stream, WHOLE as usize) as u128;
        drawn * u128::from(self.maximum - self.minimum)
            < u128::from(self.probability) * u128::from(depth - self.minimum)
    }
}

#[derive(Clone, Debug)]
pub(crate) enum EcnMarker {
    /// Never marks.
    Off,
    /// Marks from this many packets.
    Packets(u32),
    /// Marks from this many bytes.
    Bytes(u64),
    /// Marks at random. Boxed, to keep queues without it small.
    Ramp(Box<(EcnRamp, Stream)>),
}

/// Only the stream changes during a run.
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
    /// Creates a marker for the start of a run.
    pub fn new(threshold: EcnThreshold) -> Self {
        match threshold {
            EcnThreshold::Off => Self::Off,
            EcnThreshold::Packets(packets) => Self::Packets(packets),
            EcnThreshold::Bytes(bytes) => Self::Bytes(bytes),
            EcnThreshold::Ramp(ramp) => Self::Ramp(Box::new((ramp, RandomStreams::new(ramp.seed).stream("marking")))),
        }
    }

    /// Returns the packets and bytes below which nothing is marked.
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

    /// Returns whether to mark a packet with `packets` and `bytes` ahead of it in the queue.
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
        // (depth, probability computed by hand): zero, linear from 0 to 0.2, one.
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
