//! The times at which link partners have paused queues.

use std::collections::BTreeMap;

use hitless_core::wire::{Duration, PortId, QueueId, Time};

/// A queue of a switch, or a class of a network card.
pub(super) type Queue = (u32, PortId, QueueId);

/// The pauses of each queue, oldest first; a current one ends at [`Time::NEVER`].
#[derive(Debug, Default)]
pub(super) struct Pauses {
    of_queues: BTreeMap<Queue, Vec<(Time, Time)>>,
}

impl Pauses {
    /// Records the state of a queue from `now` on.
    pub fn note(&mut self, now: Time, queue: Queue, is_paused: bool) {
        let current = self.of_queues.get_mut(&queue).and_then(|pauses| pauses.last_mut());
        match current.filter(|pause| pause.1 == Time::NEVER) {
            Some(pause) if !is_paused => pause.1 = now,
            None if is_paused => self.of_queues.entry(queue).or_default().push((now, Time::NEVER)),
            Some(_) | None => {}
        }
    }

    /// Returns how long the queue was paused between two times.
    pub fn between(&self, queue: Queue, from: Time, to: Time) -> Duration {
        let Some(pauses) = self.of_queues.get(&queue) else { return Duration::ZERO };
        let first = pauses.partition_point(|pause| pause.1 <= from);
        let overlap = |pause: &(Time, Time)| pause.1.min(to).saturating_since(pause.0.max(from));
        Duration(pauses[first..].iter().take_while(|pause| pause.0 < to).map(|pause| overlap(pause).as_ps()).sum())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_paused_part_of_a_wait_counts() {
        let (queue, mut pauses) = ((3, PortId(1), QueueId(0)), Pauses::default());
        for (at, is_paused) in [(10, true), (12, true), (20, false), (21, false), (30, true)] {
            pauses.note(Time(at), queue, is_paused);
        }
        let table = [((0, 10), 0), ((0, 15), 5), ((12, 18), 6), ((15, 25), 5), ((5, 35), 15), ((20, 30), 0)];
        for ((from, to), expected) in table {
            assert_eq!(pauses.between(queue, Time(from), Time(to)), Duration(expected), "{from} to {to}");
        }
        assert_eq!(pauses.between((3, PortId(2), QueueId(0)), Time(0), Time(99)), Duration(0));
    }
}
