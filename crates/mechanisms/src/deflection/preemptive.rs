//! Preemptive Deflection: reject now the packets that a sorted queue would evict later (section 3).
//!
//! A packet of relative priority R enters a queue of capacity Q with q bytes unless q > Q (1 - alpha R) (equation 1),
//! or the queue is full. A packet that may not enter is deflected to a random port that faces a switch, if that port
//! passes the same test with the packet's relative priority there. If not, it is dropped ("given up"). The authors'
//! simulator takes the less occupied of two ports that pass, and tests it once more.

use crate::deflection::metadata::CarriedMean;
use hitless_core::engine::Stream;
use hitless_core::engine::draws::unit;
use hitless_core::wire::{PortId, Time};
use hitless_switch::{Context, DropReason, Event, HookSet, Mechanism, Needs, Report, Resources, Verdict};

use super::capacity::{Place, Queues};
use super::counters::SwitchCounters;
use super::occupancy::View;
use super::priority::Estimator;
use super::resources;
use super::settings::{Decision, PreemptiveDeflectionSettings, ProbabilisticDecision};
use crate::neighbours::{Neighbours, take_any};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Test {
    Passed,
    OverThreshold,
    Full,
}

#[derive(Debug, hitless_core::state::State)]
pub struct PreemptiveDeflection {
    #[configured]
    settings: PreemptiveDeflectionSettings,
    stream: Stream,
    neighbours: Neighbours,
    #[part]
    view: View,
    queues: Queues,
    #[part]
    estimators: Vec<Estimator>,
    taken_last: Option<PortId>,
    #[part]
    counters: SwitchCounters,
}

impl PreemptiveDeflection {
    /// Preemptive Deflection for the packets of `relieved`, with random choices from `stream`, on a switch with these
    /// recirculation ports.
    pub fn new(
        relieved: &[PortId],
        settings: &PreemptiveDeflectionSettings,
        recirculation_ports: Vec<PortId>,
        stream: Stream,
    ) -> Self {
        Self {
            settings: settings.clone(),
            stream,
            neighbours: Neighbours::new(settings.to_arrival_port),
            view: View::new(settings.occupancy, recirculation_ports),
            queues: Queues::default(),
            estimators: Vec::new(),
            taken_last: None,
            counters: SwitchCounters::new("preemptive-deflection", relieved),
        }
    }

    fn test(&mut self, place: Place, rank: u32, context: &mut Context<'_>) -> Test {
        let index = self.queues.index(place);
        // Section 3.2: "If the destination queue is full, we deflect the packet irrespective of its priority."
        let test = if self.view.test_full(place, index, context) {
            Test::Full
        } else if self.test_threshold(place, index, rank, context) {
            Test::OverThreshold
        } else {
            Test::Passed
        };
        // Also for candidates: the authors' simulator samples a rank at each test, whatever its result.
        self.estimators[index].evaluated(rank);
        test
    }

    fn test_threshold(&mut self, place: Place, index: usize, rank: u32, context: &mut Context<'_>) -> bool {
        let Some(capacity_bytes) = self.settings.capacity.bytes(place, context) else { return false };
        let depth_bytes = self.view.depth_bytes(place, index, context);
        let (capacity, depth, alpha) = (capacity_bytes as f64, depth_bytes as f64, self.settings.alpha);
        match self.settings.decision {
            Decision::Threshold(_) => {
                // Equation 1. The depth before this packet counts, so that a queue at its threshold still takes a
                // packet. Relative priority is at most 1, so that the first, cheap test avoids most of the estimates.
                depth > capacity * (1.0 - alpha)
                    && depth > capacity * (1.0 - alpha * self.relative_priority(place, index, rank, context))
            }
            Decision::Probabilistic(ProbabilisticDecision { minimum_threshold, times_alpha }) => {
                if depth_bytes <= minimum_threshold.0 {
                    return false;
                }
                let minimum = minimum_threshold.0 as f64;
                let factor = if times_alpha { alpha } else { 1.0 };
                let share = self.relative_priority(place, index, rank, context);
                // Section 6: a probability of R (q - minimum) / (Q - minimum), compared without a division.
                unit(&mut self.stream) * (capacity - minimum) < factor * share * (depth - minimum)
            }
        }
    }

    fn relative_priority(&mut self, place: Place, index: usize, rank: u32, context: &mut Context<'_>) -> f64 {
        let estimator = &mut self.estimators[index];
        if !self.view.is_immediate() {
            // Section 4.2: the mean comes from egress with the depth, in the same control packet.
            let mean = self.view.known(index, context.now()).mean_rank;
            if let Some(share) = estimator.by_mean(rank, mean) {
                return share;
            }
        }
        let committed_bytes = committed_bytes(estimator, place, context);
        estimator.relative_priority(rank, committed_bytes)
    }

    /// Notes that the current packet enters a queue.
    fn enter(&mut self, place: Place, rank: u32, context: &mut Context<'_>) {
        let index = self.queues.index(place);
        let estimator = &mut self.estimators[index];
        if !self.view.is_immediate() {
            let mean = self.view.known(index, context.now()).mean_rank;
            if let Some(next) = estimator.next_mean(mean, rank) {
                // Egress stores the mean when the packet leaves. A packet without room for it does not count in the
                // average.
                let _ = context.packet().push_shim(CarriedMean(next));
                return;
            }
        }
        // The queue drops this packet, so that its rank must not enter the mean of the packets inside.
        if estimator.asks_for_committed_bytes() && !context.queue(place.port, place.queue).has_room() {
            return;
        }
        let committed_bytes = committed_bytes(estimator, place, context);
        estimator.enqueued(rank, context.packet().frame_bytes, committed_bytes);
    }

    /// Finds another queue for the current packet.
    ///
    /// # Errors Whether any port was drawn.
    fn choose(&mut self, own: PortId, rank: u32, context: &mut Context<'_>) -> Result<Place, WithoutPlace> {
        let candidates = self.draw(own, context.port());
        if candidates[0].is_none() {
            return Err(WithoutPlace::NoPort);
        }
        let class = context.packet().class;
        let mut best: Option<(u64, Place)> = None;
        for port in candidates.into_iter().flatten() {
            let place = Place { port, queue: context.ports().class_queue(port, class) };
            if self.test(place, rank, context) == Test::Passed {
                let depth_bytes = self.view.depth_bytes(place, self.queues.index(place), context);
                if best.is_none_or(|(least, _)| depth_bytes < least) {
                    best = Some((depth_bytes, place));
                }
            }
        }
        let (_, place) = best.ok_or(WithoutPlace::Congested)?;
        // The authors' simulator repeats the test for the chosen one of several ports. The test is not idempotent: it
        // moves the windows, and the probabilistic decision draws again.
        let is_alone = candidates[1].is_none();
        if is_alone || self.test(place, rank, context) == Test::Passed {
            Ok(place)
        } else {
            Err(WithoutPlace::Congested)
        }
    }

    /// Draws distinct ports for a packet routed to `own`, in random order, and adds the last used port.
    fn draw(&mut self, own: PortId, arrived_by: PortId) -> [Option<PortId>; 3] {
        // The paper deflects to another port; the authors' simulator also draws the packet's own.
        let without = (!self.settings.draw_own_port).then_some(own);
        let eligible = self.neighbours.eligible(arrived_by, without);
        let mut candidates = [None; 3];
        for candidate in candidates.iter_mut().take(usize::from(self.settings.candidates)) {
            *candidate = take_any(eligible, &mut self.stream);
        }
        // Drawn ports are no longer in `eligible`.
        let remembered = self.taken_last.filter(|port| self.settings.memory && eligible.contains(port));
        let free = candidates.iter_mut().find(|candidate| candidate.is_none());
        free.into_iter().for_each(|candidate| *candidate = remembered);
        candidates
    }

    fn deflect(&mut self, own: PortId, test: Test, rank: u32, context: &mut Context<'_>) -> Verdict {
        let counters = self.counters.port(own);
        *if test == Test::Full { &mut counters.full } else { &mut counters.preempted } += 1;
        // Steps 5 to 8 of figure 3: the deflection port applies the same test with its own packets, and a packet that
        // fails it is dropped, which tells large flows of the congestion.
        match self.choose(own, rank, context) {
            Ok(place) => {
                self.taken_last = Some(place.port);
                self.enter(place, rank, context);
                if place.port == own {
                    self.counters.stay(own, context);
                } else {
                    self.counters.detour(own, place.port, context);
                }
                Verdict::Forward { port: place.port, queue: place.queue }
            }
            Err(reason) => {
                let counters = self.counters.port(own);
                *match reason {
                    WithoutPlace::Congested => &mut counters.given_up,
                    WithoutPlace::NoPort => &mut counters.nowhere_to_go,
                } += 1;
                Verdict::Drop(DropReason::Mechanism)
            }
        }
    }
}

/// Why a packet cannot be deflected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum WithoutPlace {
    Congested,
    /// There is no port to draw.
    NoPort,
}

fn committed_bytes(estimator: &Estimator, place: Place, context: &mut Context<'_>) -> u64 {
    if estimator.asks_for_committed_bytes() { context.queue(place.port, place.queue).committed_bytes() } else { 0 }
}

impl Mechanism for PreemptiveDeflection {
    hitless_switch::is_its_own_state!();

    /// Hooks at all ports: windows and means cover all packets of a queue.
    fn needs(&mut self, queue_counts: &[usize]) -> Needs {
        self.queues = Queues::new(queue_counts);
        self.estimators = vec![Estimator::new(self.settings.relative_priority); self.queues.count()];
        self.view.size(queue_counts);
        let at_each = HookSet::INGRESS_TOWARDS.with(self.view.hooks());
        let hooks = (0..queue_counts.len() as u16).map(|port| (PortId(port), at_each)).collect();
        Needs { hooks, ..Needs::default() }
    }

    fn ingress(&mut self, context: &mut Context<'_>) -> Verdict {
        if self.view.owns(context) {
            return self.view.learn(context);
        }
        let packet = context.packet();
        if packet.is_congestion_notice() {
            return Verdict::Continue;
        }
        let rank = packet.urgency();
        let own = Place { port: packet.egress_port, queue: packet.queue };
        if let Some(counters) = self.counters.of_relieved(own.port) {
            counters.seen += 1;
            let test = self.test(own, rank, context);
            if test != Test::Passed {
                return self.deflect(own.port, test, rank, context);
            }
        }
        self.enter(own, rank, context);
        self.counters.leaves_by(own.port, context);
        Verdict::Continue
    }

    fn egress(&mut self, context: &mut Context<'_>) -> Verdict {
        if self.view.owns(context) {
            return self.view.read(context);
        }
        let place = Place { port: context.port(), queue: context.packet().queue };
        // Section 4.2: data packets "carry the newly calculated average to the egress pipeline", because ingress cannot
        // read a register and write it back in a later stage.
        let carried = context.packet().remove_shim::<CarriedMean>().map(|mean| mean.0);
        let Some(index) = self.queues.find(place) else { return Verdict::Continue };
        let estimator = &mut self.estimators[index];
        let committed_bytes = committed_bytes(estimator, place, context);
        let mean_rank = estimator.queued_mean(committed_bytes).or(carried);
        self.view.leaves(place, index, self.settings.capacity, mean_rank, context);
        Verdict::Continue
    }

    fn on(&mut self, event: Event, context: &mut Context<'_>) {
        self.neighbours.on(event, context);
        if event == Event::Start {
            self.view.start(context);
        }
    }

    fn resources(&self) -> Resources {
        resources::of_preemptive(&self.settings, &self.view, self.queues.count() as u64)
    }

    fn report(&self, _now: Time) -> Report {
        let mut report = self.counters.report();
        self.view.report(&mut report);
        report
    }
}
