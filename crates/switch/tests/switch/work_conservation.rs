//! No scheduler is idle while it has a packet ready to send, for any discipline and any history.

use hitless_core::engine::PacketHandle;
use hitless_core::wire::{Duration, QueueId, Time};
use hitless_switch::queueing::queued::Offer;
use hitless_switch::queueing::{Claim, Dequeued, Entry, QueuedScheduler, SharedBuffer};
use hitless_switch::{BufferPolicy, GroupDiscipline, LatePackets, QueueConfig, QueueGroup, QueueLimit, QueueOrder};
use proptest::prelude::*;

use super::flow_queueing::scheduler::{arriving, disciplines, ended, scheduler as flow_scheduler};

/// An operation on a scheduler.
#[derive(Clone, Copy, Debug)]
enum Step {
    Arrive { queue: u8, bytes: u32 },
    Leave,
    Pause { queue: u8 },
    Resume { queue: u8 },
    Close { but: u8 },
    Open,
    Grant,
    Swap,
    Wait { ns: u64 },
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        6 => (0u8..12, 64u32..=1_518).prop_map(|(queue, bytes)| Step::Arrive { queue, bytes }),
        6 => Just(Step::Leave),
        1 => (0u8..12).prop_map(|queue| Step::Pause { queue }),
        1 => (0u8..12).prop_map(|queue| Step::Resume { queue }),
        1 => (0u8..12).prop_map(|but| Step::Close { but }),
        1 => Just(Step::Open),
        1 => Just(Step::Grant),
        1 => Just(Step::Swap),
        1 => (0u64..3_000).prop_map(|ns| Step::Wait { ns }),
    ];
    prop::collection::vec(step, 1..200)
}

fn limits() -> impl Strategy<Value = QueueLimit> {
    prop_oneof![
        Just(QueueLimit::Unlimited),
        (1u32..10).prop_map(QueueLimit::Packets),
        (1_518u64..8_000).prop_map(QueueLimit::Bytes)
    ]
}

/// Up to five queues on three levels, in order of arrival or by rank, with quanta and limits.
fn queues() -> impl Strategy<Value = Vec<QueueConfig>> {
    let queue = (99u8..102, 1u32..3_000, limits(), any::<bool>());
    let queue = queue.prop_map(|(priority, quantum_bytes, limit, is_by_rank)| {
        let order = if is_by_rank { QueueOrder::ByRank } else { QueueOrder::ByArrival };
        QueueConfig { priority, quantum_bytes, ..QueueConfig::normal(limit) }.with_order(order)
    });
    prop::collection::vec(queue, 1..6)
}

fn groups() -> impl Strategy<Value = Option<QueueGroup>> {
    let late = prop_oneof![Just(LatePackets::NamedQueue), Just(LatePackets::ServedQueue)];
    let step = prop_oneof![Just(0u64), 1u64..100];
    let discipline = prop_oneof![
        (late, step).prop_map(|(late, step_ns)| GroupDiscipline::RotatingStrictPriority {
            late,
            step: Duration::from_ns(step_ns)
        }),
        (1u32..4_000).prop_map(|quantum_bytes| GroupDiscipline::DeficitRoundRobin { quantum_bytes }),
        Just(GroupDiscipline::SwappedHalves),
    ];
    let group = (1u8..6, 99u8..102, limits(), discipline, prop::option::of(1u64..500));
    prop::option::of(group.prop_map(|(half, priority, limit, discipline, idle_ns)| {
        // Deficit round robin does not advance its turn while idle.
        let moves_on = !matches!(discipline, GroupDiscipline::DeficitRoundRobin { .. });
        let idle_round_time = idle_ns.filter(|_| moves_on).map(Duration::from_ns);
        let queue = QueueConfig::normal(QueueLimit::Unlimited).with_priority(priority);
        QueueGroup { queues: 2 * half, queue, discipline, limit, idle_round_time, classes: u8::MAX }
    }))
}

/// A queued scheduler, with the state expected from the operations so far.
struct Watched {
    scheduler: QueuedScheduler,
    buffer: SharedBuffer,
    group: Option<QueueGroup>,
    own_queues: u8,
    now: Time,
    /// Waiting packets, by queue.
    waiting: Vec<u32>,
    is_paused: Vec<bool>,
    is_closed: Vec<bool>,
    credit: Option<(u8, u64)>,
}

impl Watched {
    fn new(queues: &[QueueConfig], group: Option<QueueGroup>, by_credit: Option<u8>) -> Self {
        let count = queues.len() + group.map_or(0, |group| usize::from(group.queues));
        let mut scheduler = QueuedScheduler::new(queues, group);
        let credit = by_credit.map(|queue| (queue % queues.len() as u8, 0));
        if let Some((queue, _)) = credit {
            scheduler.schedule_by_credit(QueueId(queue));
        }
        Self {
            scheduler,
            buffer: SharedBuffer::new(BufferPolicy::Static),
            group,
            own_queues: queues.len() as u8,
            now: Time::ZERO,
            waiting: vec![0; count],
            is_paused: vec![false; count],
            is_closed: vec![false; count],
            credit,
        }
    }

    fn any(&self, queue: u8) -> QueueId {
        QueueId(queue % self.waiting.len() as u8)
    }

    /// A pause of any queue of the group pauses the whole group.
    fn set_paused(&mut self, queue: QueueId, is_paused: bool) {
        let first = usize::from(self.own_queues);
        let of_group = usize::from(queue.0) >= first;
        let stopped =
            if of_group { &mut self.is_paused[first..] } else { &mut self.is_paused[usize::from(queue.0)..][..1] };
        stopped.fill(is_paused);
    }

    /// Returns whether any packet may be sent.
    fn may_send(&self) -> bool {
        (0..self.waiting.len()).any(|queue| {
            let has_credit = self.credit.is_none_or(|(of, credit)| usize::from(of) != queue || credit > 0);
            self.waiting[queue] > 0 && !self.is_paused[queue] && !self.is_closed[queue] && has_credit
        })
    }

    fn arrive(&mut self, queue: QueueId, frame_bytes: u32) {
        let entry = Entry::new(PacketHandle(0), frame_bytes, self.now);
        if self.scheduler.is_by_rank(queue) {
            let rank = frame_bytes % 4;
            let _ = self.scheduler.offer_by_rank(queue, rank, entry, Claim::OnlyIfItFits, &mut self.buffer);
            drop(self.scheduler.take_evicted());
        } else if queue.0 < self.own_queues {
            self.scheduler.offer(queue, 0, entry);
        } else {
            // Any round from late ones to those without a separate queue yet.
            let rounds = self.scheduler.rounds(self.now).expect("the scheduler has a group");
            let count = u64::from(self.waiting.len() as u8 - self.own_queues);
            let round = (rounds.oldest + u64::from(frame_bytes) % (count + 2)).saturating_sub(1);
            let queue = QueueId(self.own_queues + (round % count) as u8);
            let before = self.scheduler.group_packets();
            let offer = self.scheduler.offer(queue, round as u8, entry);
            let is_in = matches!(offer, Offer::Queued { .. });
            assert_eq!(self.scheduler.group_packets(), before + usize::from(is_in));
        }
    }

    /// Serves the scheduler when its server is free.
    fn leave(&mut self) {
        let turns = self.group.map_or(1, |group| usize::from(group.queues) + 1);
        let may_send = self.may_send();
        for _ in 0..=turns {
            match self.scheduler.take() {
                Dequeued::Packet(queue, _) => {
                    assert!(may_send, "queue {queue:?} was not to be served");
                    if let Some((of, credit)) = &mut self.credit
                        && queue.0 == *of
                    {
                        *credit -= 1;
                    }
                    return;
                }
                Dequeued::Rotating(step) => self.now += step,
                Dequeued::Nothing => {
                    return assert!(!may_send, "idle, and {:?} packets wait in the queues", self.waiting);
                }
            }
        }
        panic!("the group went around and around, and {:?} packets wait in the queues", self.waiting);
    }

    fn happen(&mut self, step: Step) {
        match step {
            Step::Arrive { queue, bytes } => self.arrive(self.any(queue), bytes),
            Step::Leave => self.leave(),
            Step::Pause { queue } => {
                self.scheduler.pause(self.any(queue));
                self.set_paused(self.any(queue), true);
            }
            Step::Resume { queue } => {
                self.scheduler.resume(self.any(queue));
                self.set_paused(self.any(queue), false);
            }
            Step::Close { but } => {
                let open = self.any(but);
                self.scheduler.close_all_but(&[open]);
                (0..self.waiting.len()).for_each(|queue| self.is_closed[queue] |= queue != usize::from(open.0));
            }
            Step::Open => {
                self.scheduler.open_all();
                self.is_closed.fill(false);
            }
            Step::Grant => {
                if let Some((queue, credit)) = &mut self.credit {
                    self.scheduler.grant(QueueId(*queue), 2);
                    *credit += 2;
                }
            }
            Step::Swap => drop(self.scheduler.swap_halves()),
            Step::Wait { ns } => self.now += Duration::from_ns(ns),
        }
        for queue in 0..self.waiting.len() {
            self.waiting[queue] = u32::from(self.scheduler.depth_bytes(QueueId(queue as u8)) > 0);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_queued_scheduler_is_idle_that_has_a_packet_which_may_go(
        queues in queues(),
        group in groups(),
        by_credit in prop::option::of(0u8..6),
        steps in steps(),
    ) {
        let mut watched = Watched::new(&queues, group, by_credit);
        steps.into_iter().for_each(|step| watched.happen(step));
        // Packets leave when nothing holds them.
        watched.scheduler.open_all();
        watched.is_closed.fill(false);
        for queue in 0..watched.waiting.len() as u8 {
            watched.scheduler.resume(QueueId(queue));
        }
        watched.is_paused.fill(false);
        (0..200).for_each(|_| watched.happen(Step::Grant));
        (0..200).for_each(|_| watched.happen(Step::Leave));
        prop_assert_eq!(watched.scheduler.packets(), 0);
    }

    #[test]
    fn no_scheduler_that_queues_by_flow_is_idle_that_has_a_packet(
        config in disciplines(),
        limit in limits(),
        steps in steps(),
    ) {
        let mut scheduler = flow_scheduler(config, limit);
        let mut now = Time::ZERO;
        let mut number = 0;
        for step in steps {
            match step {
                Step::Arrive { queue, bytes } => {
                    scheduler.offer(&arriving(number, now, queue.into(), 0, bytes));
                    ended(&mut scheduler);
                    number += 1;
                }
                Step::Wait { ns } => now += Duration::from_ns(ns),
                Step::Leave => {
                    let sent = scheduler.take(now).is_some();
                    let given_up = ended(&mut scheduler).len();
                    prop_assert!(sent || scheduler.packets() == 0, "idle, {} wait, {given_up} given up", scheduler.packets());
                }
                _ => {}
            }
        }
        while scheduler.take(now).is_some() {
            ended(&mut scheduler);
        }
        prop_assert_eq!(scheduler.packets(), 0);
    }
}
