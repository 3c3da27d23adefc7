//! A frame that passes an idle port without waiting.

use hitless_core::wire::{QueueId, Time};

use super::QueuedScheduler;
use crate::queueing::group::Choice;

impl QueuedScheduler {
    /// Returns whether the port is idle, and admits a frame to `queue` unmarked and may serve it now.
    #[inline]
    pub fn lets_pass(&self, now: Time, queue: QueueId, frame_bytes: u32) -> bool {
        if self.occupied != 0 || self.busy_until > now || self.service_is_due || self.is_by_rank(queue) {
            return false;
        }
        let state = &self.queues[usize::from(queue.0)];
        let is_free = state.stops == 0 && state.credit.is_none() && state.held_packets == 0;
        is_free && frame_bytes <= state.passing_bytes && self.group_lets_pass(queue, frame_bytes)
    }

    #[inline]
    fn group_lets_pass(&self, queue: QueueId, frame_bytes: u32) -> bool {
        match &self.group {
            Some(group) if group.contains(queue) => group.lets_pass(frame_bytes),
            _ => true,
        }
    }

    /// Serves a frame after [`Self::lets_pass`], with the same effect as offering and taking it.
    #[inline]
    pub fn pass(&mut self, queue: QueueId, round: u8, frame_bytes: u32) {
        let (mut queue, mut member) = (queue, queue.0);
        if let Some(group) = &mut self.group
            && group.contains(queue)
        {
            queue = group.admit(queue, round, frame_bytes, 0).expect("an empty group has room");
            group.add(frame_bytes);
            let chosen = group.choose(1 << queue.0, |_| frame_bytes);
            debug_assert_eq!(chosen, Choice::Queue(queue.0), "no other queue has a packet");
            group.taken(queue.0, frame_bytes, true);
            member = group.leader();
        }
        let state = &mut self.queues[usize::from(queue.0)];
        state.peak_bytes = state.peak_bytes.max(u64::from(frame_bytes));
        // A single member of a level never gains a deficit.
        if let Some(level) = self.levels.iter_mut().find(|level| level.mask >> queue.0 & 1 == 1)
            && !level.members.members().is_power_of_two()
        {
            level.members.next_member(1 << member, |_| frame_bytes);
            level.members.emptied(member);
        }
        self.serving = (queue, frame_bytes);
        self.duties = 0;
    }
}

#[cfg(test)]
mod tests {
    use hitless_core::engine::draws::below;
    use hitless_core::engine::{PacketHandle, RandomStreams};
    use hitless_core::wire::Duration;

    use super::super::{Dequeued, Offer};
    use super::*;
    use crate::queueing::{EcnThreshold, Entry, GroupDiscipline, LatePackets, QueueConfig, QueueGroup, QueueLimit};

    fn config(priority: u8) -> QueueConfig {
        QueueConfig::normal(QueueLimit::Bytes(4_000)).with_priority(priority).with_ecn(EcnThreshold::Packets(2))
    }

    fn group(discipline: GroupDiscipline) -> Option<QueueGroup> {
        let (queue, limit) = (config(1), QueueLimit::Bytes(6_000));
        let idle_round_time = Some(Duration::from_ns(700));
        Some(QueueGroup { queues: 4, queue, discipline, limit, idle_round_time, classes: u8::MAX })
    }

    fn take(scheduler: &mut QueuedScheduler, now: Time) {
        if let Dequeued::Packet(_, entry) = scheduler.take() {
            scheduler.busy_until = now + Duration::from_ns(u64::from(entry.frame_bytes));
        }
    }

    #[test]
    fn a_frame_that_passes_leaves_the_state_of_one_that_is_queued_and_taken() {
        let late = LatePackets::ServedQueue;
        let rotating = GroupDiscipline::RotatingStrictPriority { late, step: Duration::ZERO };
        let quantum = GroupDiscipline::DeficitRoundRobin { quantum_bytes: 900 };
        let cases = [
            (vec![config(1), config(9)], None),
            (vec![config(1), config(1), config(1)], None),
            (vec![config(1)], group(rotating)),
            (vec![config(1)], group(quantum)),
            (vec![config(9)], group(GroupDiscipline::SwappedHalves)),
        ];
        for (queues, group) in cases {
            let new = || QueuedScheduler::new(&queues, group);
            let (mut passing, mut plain, mut passed) = (new(), new(), 0);
            let mut stream = RandomStreams::new(7).stream("frames");
            let mut now = Time::ZERO;
            for _ in 0..2_000 {
                now += Duration::from_ns(below(&mut stream, 2_500) as u64);
                while plain.has_ready() && plain.busy_until <= now {
                    let at = plain.busy_until;
                    [&mut plain, &mut passing].into_iter().for_each(|scheduler| take(scheduler, at));
                }
                let (queue, round) =
                    (QueueId(below(&mut stream, plain.queue_count()) as u8), below(&mut stream, 256) as u8);
                let entry = Entry::new(PacketHandle(0), 64 + below(&mut stream, 1_400) as u32, now);
                let offer = plain.offer(queue, round, entry);
                if passing.lets_pass(now, queue, entry.frame_bytes) {
                    assert_eq!(offer, Offer::Queued { mark: false });
                    passing.pass(queue, round, entry.frame_bytes);
                    take(&mut plain, now);
                    passing.busy_until = plain.busy_until;
                    passed += 1;
                } else {
                    assert_eq!(passing.offer(queue, round, entry), offer);
                    if plain.busy_until <= now {
                        [&mut plain, &mut passing].into_iter().for_each(|scheduler| take(scheduler, now));
                    }
                }
                assert_eq!(format!("{passing:?}"), format!("{plain:?}"));
            }
            assert!((500..1_500).contains(&passed), "{passed} frames of {queues:?}, {group:?}");
        }
    }

    #[test]
    fn an_empty_queue_that_marks_or_has_no_room_lets_nothing_pass() {
        let normal = QueueConfig::normal(QueueLimit::Bytes(1_000));
        let marking = QueueConfig::normal(QueueLimit::Unlimited).with_ecn(EcnThreshold::Bytes(0));
        let shut = QueueConfig::normal(QueueLimit::Packets(0));
        let lengths =
            [normal, marking, shut, normal.with_ecn(EcnThreshold::Bytes(1))].map(|queue| queue.passing_bytes());
        assert_eq!(lengths, [1_000, 0, 0, 1_000]);
    }
}
