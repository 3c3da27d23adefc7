use std::io;

use hdrhistogram::Histogram;

use super::datagram::Stamp;
use crate::interfaces::Interface;

/// Maximum number of frames per look.
const LOOK_FRAMES: usize = 1024;
/// Maximum distance behind the highest number at which duplicates are recognised.
const WINDOW_FRAMES: u64 = 1 << 16;
/// Maximum recorded delay: ten seconds. Larger delays count as this.
const DELAY_NS_MAX: u64 = 10_000_000_000;

#[derive(Clone, Debug)]
pub struct Arrivals {
    /// Frames of the stream, without duplicates.
    pub frames: u64,
    pub duplicates: u64,
    /// Frames that arrived after a frame with a higher number.
    pub reordered: u64,
    /// Other frames, which are not counted elsewhere.
    pub foreign: u64,
    /// Frames lost because the sink's own ring was full; not an error of the measured switch.
    pub overrun: u64,
    /// Time from the first to the last arrival.
    pub elapsed_ns: u64,
    /// Delays from sending to arrival, in nanoseconds.
    pub delays_ns: Histogram<u64>,
}

#[derive(Debug)]
pub struct Sink {
    stream: u32,
    arrivals: Arrivals,
    first_ns: Option<u64>,
    last_ns: u64,
    /// Highest number so far plus one.
    next: u64,
    /// Whether each number of the window has arrived, indexed modulo the window.
    seen: Vec<bool>,
}

impl Sink {
    /// Makes a sink for the stream with this number.
    pub fn new(stream: u32) -> Self {
        let arrivals = Arrivals {
            frames: 0,
            duplicates: 0,
            reordered: 0,
            foreign: 0,
            overrun: 0,
            elapsed_ns: 0,
            delays_ns: Histogram::new_with_bounds(1, DELAY_NS_MAX, 3).expect("1 to 10^10 with three digits is legal"),
        };
        let seen = vec![false; WINDOW_FRAMES as usize];
        Self { stream, arrivals, first_ns: None, last_ns: 0, next: 0, seen }
    }

    /// Processes the frames received at `port`; returns their number.
    pub fn look(&mut self, port: &mut dyn Interface) -> io::Result<usize> {
        port.receive(LOOK_FRAMES, &mut |frame| match Stamp::read(frame.bytes) {
            Some(stamp) if stamp.stream == self.stream => self.take(stamp, frame.at.0),
            _ => self.arrivals.foreign += 1,
        })
    }

    fn take(&mut self, stamp: Stamp, at_ns: u64) {
        let is_late = stamp.sequence < self.next;
        if !self.mark_seen(stamp.sequence) {
            self.arrivals.duplicates += 1;
            return;
        }
        self.arrivals.frames += 1;
        self.arrivals.reordered += u64::from(is_late);
        self.arrivals.delays_ns.saturating_record(at_ns.saturating_sub(stamp.sent_ns).max(1));
        self.first_ns.get_or_insert(at_ns);
        self.last_ns = at_ns;
    }

    /// Marks a number as seen; false when it has been before. One from before the window counts as new.
    fn mark_seen(&mut self, sequence: u64) -> bool {
        // A jump beyond the window empties it.
        for skipped in self.next.max((sequence + 1).saturating_sub(WINDOW_FRAMES))..=sequence {
            self.seen[(skipped % WINDOW_FRAMES) as usize] = false;
        }
        self.next = self.next.max(sequence + 1);
        if sequence + WINDOW_FRAMES < self.next {
            return true;
        }
        !std::mem::replace(&mut self.seen[(sequence % WINDOW_FRAMES) as usize], true)
    }

    /// Returns the results; `overrun` is the number of frames lost at the sink's own ring.
    pub fn finish(mut self, overrun: u64) -> Arrivals {
        self.arrivals.elapsed_ns = self.first_ns.map_or(0, |first| self.last_ns.saturating_sub(first));
        self.arrivals.overrun = overrun;
        self.arrivals
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn sink_of(numbers: &[u64]) -> Arrivals {
        let mut sink = Sink::new(1);
        for (at, sequence) in numbers.iter().enumerate() {
            sink.take(Stamp { stream: 1, sequence: *sequence, sent_ns: 0 }, at as u64 + 1);
        }
        sink.finish(0)
    }

    #[test]
    fn order_and_duplicates_are_told_apart() {
        for (numbers, frames, duplicates, reordered) in [
            (&[0, 1, 2, 3][..], 4, 0, 0),
            (&[0, 2, 1, 3], 4, 0, 1),
            (&[0, 1, 1, 2], 3, 1, 0),
            (&[5, 9, 5, 6, 6], 3, 2, 1),
            (&[0, 100_000, 0, 100_000 - 65_535], 4, 0, 2),
        ] {
            let arrivals = sink_of(numbers);
            let found = (arrivals.frames, arrivals.duplicates, arrivals.reordered);
            assert_eq!(found, (frames, duplicates, reordered), "{numbers:?}");
        }
    }

    proptest! {
        #[test]
        fn within_the_window_the_counts_are_those_of_a_set(numbers in prop::collection::vec(0_u64..500, 0..300)) {
            let arrivals = sink_of(&numbers);
            let mut seen = std::collections::BTreeSet::new();
            let mut highest = None;
            let (mut duplicates, mut reordered) = (0, 0);
            for number in &numbers {
                if !seen.insert(*number) {
                    duplicates += 1;
                } else if highest > Some(*number) {
                    reordered += 1;
                }
                highest = highest.max(Some(*number));
            }
            prop_assert_eq!(arrivals.frames, seen.len() as u64);
            prop_assert_eq!((arrivals.duplicates, arrivals.reordered), (duplicates, reordered));
            prop_assert_eq!(arrivals.delays_ns.len(), arrivals.frames);
        }
    }
}
