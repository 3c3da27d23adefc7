//! A value that ingress writes and egress reads.
//!
//! The two halves share no registers: a packet carries a value from ingress through the traffic manager and writes it
//! in egress. [`EgressView`] models that delay without the event that carrying the value would cost.

use std::collections::VecDeque;

use hitless_core::wire::Time;

/// The maximum number of values in transit within any latency: one per minimum frame at 800 Gb/s for 800 ns.
const UNDERWAY_MAX: usize = 1_024;

#[derive(Debug, hitless_core::state::Value)]
pub struct EgressView<T> {
    arrived: T,
    underway: VecDeque<(Time, T)>,
}

#[cfg(test)]
impl<T: std::hash::Hash> hitless_switch::explore::State for EgressView<T> {
    fn tell(&self, digest: &mut hitless_switch::explore::Digest<'_>) {
        digest.value((&self.arrived, self.underway.len()));
        for (visible_at, value) in &self.underway {
            digest.deadline(*visible_at);
            digest.value(value);
        }
    }
}

impl<T: Copy> EgressView<T> {
    pub fn new(initial: T) -> Self {
        Self { arrived: initial, underway: VecDeque::new() }
    }

    /// Sends `value`, which egress sees from `visible_at`. Values must be sent in the order of that time.
    ///
    /// If egress has read nothing for long, the last value in transit is replaced, which bounds the memory.
    pub fn send(&mut self, value: T, visible_at: Time) {
        let is_in_order = self.underway.back().is_none_or(|&(before, _)| before <= visible_at);
        assert!(is_in_order, "values reach egress in the order in which they were sent");
        if self.underway.len() == UNDERWAY_MAX {
            self.underway.pop_back();
        }
        self.underway.push_back((visible_at, value));
    }

    /// Takes in the values that are visible at `now`; returns true if there was any.
    pub fn receive(&mut self, now: Time) -> bool {
        let mut any = false;
        while let Some(&(visible_at, value)) = self.underway.front()
            && visible_at <= now
        {
            self.arrived = value;
            self.underway.pop_front();
            any = true;
        }
        any
    }

    pub fn get(&self) -> T {
        self.arrived
    }

    /// Writes the value in egress itself.
    pub fn set(&mut self, value: T) {
        self.arrived = value;
    }

    pub fn next_visible_at(&self) -> Option<Time> {
        self.underway.front().map(|&(visible_at, _)| visible_at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn when_nobody_looks_the_last_values_make_room_for_the_newest() {
        let mut crossing = EgressView::new(0);
        (1..=10 * UNDERWAY_MAX as u64).for_each(|value| crossing.send(value, Time(value)));
        assert_eq!(crossing.underway.len(), UNDERWAY_MAX);
        assert!(crossing.receive(Time::NEVER));
        assert_eq!(crossing.get(), 10 * UNDERWAY_MAX as u64);
    }

    #[test]
    fn egress_sees_a_value_after_its_delay() {
        let mut crossing = EgressView::new(0);
        crossing.send(1, Time(10));
        crossing.send(2, Time(20));
        assert!(!crossing.receive(Time(9)));
        assert_eq!(crossing.get(), 0);
        assert!(crossing.receive(Time(10)));
        assert_eq!((crossing.get(), crossing.next_visible_at()), (1, Some(Time(20))));
        assert!(crossing.receive(Time(30)));
        assert_eq!((crossing.get(), crossing.next_visible_at()), (2, None));
    }
}
