//! The verdicts of a mechanism about a refused packet.

use std::sync::{Arc, Mutex};

use hitless_core::wire::{BitRate, PortId, QueueId, Time};
use hitless_switch::testing::Harness;
use hitless_switch::{
    Architecture, BufferPolicy, Context, DropReason, HookSet, Mechanism, Needs, PortConfig, QueueConfig, QueueLimit,
    Report, Resources, Switch, Verdict,
};

use super::world::{ELSEWHERE, IN, OUT, harness, packet};

/// Returns the same verdict for every refusal, and records the calls.
struct Answers {
    verdict: Verdict,
    cut_to_bytes: Option<u32>,
    watched: Vec<PortId>,
    told: Arc<Mutex<Vec<(DropReason, PortId, bool)>>>,
}

impl Mechanism for Answers {
    fn needs(&mut self, _: &[usize]) -> Needs {
        let hooks = self.watched.iter().map(|&port| (port, HookSet::TM_DROP)).collect();
        // A second queue of the congested port.
        let second = QueueConfig::normal(QueueLimit::Packets(2)).with_priority(200);
        Needs { hooks, queues: vec![(OUT, second)], ..Needs::default() }
    }
    fn report(&self, _: Time) -> Report {
        Report::new("answers")
    }
    fn resources(&self) -> Resources {
        Resources::new("answers")
    }
    fn on_tm_drop(&mut self, reason: DropReason, context: &mut Context<'_>) -> Verdict {
        self.told.lock().expect("no other thread").push((reason, context.port(), context.is_last_try()));
        if let Some(bytes) = self.cut_to_bytes {
            context.packet().frame_bytes = bytes;
        }
        self.verdict
    }
}

struct Outcome {
    harness: Harness,
    told: Vec<(DropReason, PortId, bool)>,
}

/// Sends six packets at once to a port with a queue for three; the queues of other ports have the same limit.
fn burst(verdict: Verdict, cut_to_bytes: Option<u32>, watched: &[PortId], buffer: BufferPolicy) -> Outcome {
    burst_for(vec![(verdict, cut_to_bytes)], watched, buffer)
}

fn burst_for(answers: Vec<(Verdict, Option<u32>)>, watched: &[PortId], buffer: BufferPolicy) -> Outcome {
    let told = Arc::default();
    let mechanism =
        |(verdict, cut_to_bytes)| Answers { verdict, cut_to_bytes, watched: watched.to_vec(), told: Arc::clone(&told) };
    let mechanisms =
        answers.into_iter().map(mechanism).map(|answers| Box::new(answers) as Box<dyn Mechanism>).collect();
    let port = PortConfig::fifo(BitRate::from_gbps(10), 20, QueueConfig::normal(QueueLimit::Packets(3)));
    let switch = Switch::new(Architecture::tofino_like(), vec![port; 3], buffer, mechanisms);
    let mut harness = harness(switch);
    // The port serves the first packet before the others arrive.
    (0..6).for_each(|number: u64| harness.arrive(Time(number.min(1)), IN, packet(1_000)));
    harness.finish();
    let told = std::mem::take(&mut *told.lock().expect("no other thread"));
    Outcome { harness, told }
}

const fn forward(port: PortId, queue: u8) -> Verdict {
    Verdict::Forward { port, queue: QueueId(queue) }
}

#[test]
fn a_refused_packet_ends_unless_the_mechanism_sends_it_elsewhere() {
    let outcome = burst(Verdict::Continue, None, &[OUT], BufferPolicy::Static);
    let lost: Vec<_> = (3..6).map(|number| (number, DropReason::QueueFull)).collect();
    assert_eq!((outcome.harness.left_by(OUT), outcome.harness.ended()), (vec![0, 1, 2], lost));
    assert_eq!(outcome.told, [(DropReason::QueueFull, OUT, false); 3]);
}

#[test]
fn what_is_forwarded_is_sent_by_the_other_port_and_not_lost() {
    for watched in [&[OUT][..], &[OUT, ELSEWHERE]] {
        let outcome = burst(forward(ELSEWHERE, 0), None, watched, BufferPolicy::Static);
        assert_eq!((outcome.harness.left_by(OUT), outcome.harness.left_by(ELSEWHERE)), (vec![0, 1, 2], vec![3, 4, 5]));
        assert_eq!(outcome.harness.ended(), []);
        assert_eq!(outcome.told.len(), 3);
    }
}

#[test]
fn a_packet_may_be_cut_for_a_queue_that_goes_first() {
    let outcome = burst(forward(OUT, 1), Some(64), &[OUT], BufferPolicy::Static);
    // The first is in transmission. The queue for trimmed packets takes two.
    let left_bytes: Vec<_> = outcome.harness.world.left.iter().map(|left| left.packet.frame_bytes).collect();
    assert_eq!((outcome.harness.left_by(OUT), left_bytes), (vec![0, 3, 4, 1, 2], vec![1_000, 64, 64, 1_000, 1_000]));
    assert_eq!(outcome.harness.ended(), [(5, DropReason::QueueFull)]);
    let last = (DropReason::QueueFull, OUT, true);
    assert_eq!((outcome.told.len(), outcome.told.last()), (4, Some(&last)), "it is told that the last try failed");
}

#[test]
fn a_packet_that_is_sent_back_to_the_full_queue_ends_at_its_second_refusal() {
    let outcome = burst(forward(OUT, 0), None, &[OUT], BufferPolicy::Static);
    assert_eq!(outcome.harness.ended().len(), 3);
    let last_tries = outcome.told.iter().filter(|(.., is_last_try)| *is_last_try).count();
    assert_eq!((outcome.told.len(), last_tries), (6, 3));
}

#[test]
fn a_packet_may_end_for_another_reason() {
    let outcome = burst(Verdict::Drop(DropReason::Mechanism), None, &[OUT], BufferPolicy::Static);
    assert!(outcome.harness.ended().iter().all(|&(_, reason)| reason == DropReason::Mechanism));
}

#[test]
fn of_several_mechanisms_all_are_told_and_the_first_decision_counts() {
    let answers = vec![(Verdict::Continue, None), (forward(ELSEWHERE, 0), None), (forward(OUT, 1), None)];
    let outcome = burst_for(answers, &[OUT], BufferPolicy::Static);
    assert_eq!(outcome.harness.left_by(ELSEWHERE), [3, 4, 5]);
    assert_eq!(outcome.told.len(), 9);
}

#[test]
fn the_shared_buffer_gets_back_what_a_cut_packet_had_and_takes_what_it_has() {
    // One packet of 1,000 B is in transmission, one waits; a third does not fit into the buffer.
    let buffer = BufferPolicy::Shared { capacity_bytes: 1_200, alpha: 8.0 };
    let outcome = burst(forward(OUT, 1), Some(64), &[OUT], buffer);
    assert_eq!(outcome.harness.left_by(OUT), [0, 2, 3, 1]);
    assert_eq!(outcome.told[0], (DropReason::BufferFull, OUT, false));
    assert_eq!(outcome.harness.ended().len(), 2);
}
