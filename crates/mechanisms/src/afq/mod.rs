//! AFQ, approximate fair queueing (Sharma, Liu, Atreya, Krishnamurthy; NSDI 2018; sections as printed there).
//!
//! Ingress estimates from a [`sketch`] of bids the round in which a packet would leave under bit-by-bit round robin,
//! and sends the packet to the queue of that round. A [group of queues](hitless_switch::QueueGroup) serves one round
//! after the other. Choices that the paper leaves open are settings, with reasons in docs/explanation/afq.md. Read
//! `Afq::ingress` first, then [`sketch`].

mod adaptive;
mod check;
mod checker;
mod classes;
mod counters;
pub mod hash;
mod kind;
mod occupancy;
mod resources;
mod round_trip;
mod settings;
pub mod sketch;
mod timer;

use hitless_core::settings::quantity::Quantity;
use hitless_core::wire::{Duration, Packet, PortId, QueueId, Time};
use hitless_switch::canary::{Canary, sings};
use hitless_switch::{
    Context, DropReason, Event, GroupDiscipline, HookSet, LatePackets, Mechanism, Needs, QueueConfig, QueueGroup,
    QueueLimit, Report, Resources, Rounds, TimerToken, Verdict,
};

use adaptive::ActiveQueues;
use checker::{Estimate, ExactBids};
use classes::Charge;
use counters::PortCounters;
use hash::Key;
use occupancy::RoundEstimate;
use sketch::{Request, Sketch};
use timer::{PERIODS, Timer};

pub use settings::{
    AfqAdaptive, AfqDeficit, AfqHash, AfqIdleRound, AfqLate, AfqOccupancy, AfqRotating, AfqRound, AfqScheduler,
    AfqSettings, AfqSketch, AfqTwoGroups, DropAhead, FlowKey, UpdateRule,
};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AfqPort {
    pub port: PortId,
    /// Common limit of all its queues (section 3.3.1).
    pub limit: QueueLimit,
    /// Time of a round while the port is idle; `None` if the round stands still.
    pub idle_round_time: Option<Duration>,
    /// Fair-queued traffic classes, one bit each.
    pub classes: u8,
    /// Configuration of each queue; level and quantum place all of them among the port's other queues.
    pub queue: QueueConfig,
}

impl AfqPort {
    /// AFQ for all classes of `port`, with rounds that stand still while it is idle.
    pub const fn new(port: PortId, limit: QueueLimit) -> Self {
        let queue = QueueConfig::normal(QueueLimit::Unlimited);
        Self { port, limit, idle_round_time: None, classes: u8::MAX, queue }
    }
}

#[derive(Debug, hitless_core::state::State)]
pub struct Afq {
    #[configured]
    settings: AfqSettings,
    /// BpR, in the width of a bid.
    bytes_per_round: u32,
    /// Charges by traffic class; a class beyond the list has weight 1.
    #[configured]
    charges: Vec<Charge>,
    /// Position in `ports`, by port of the switch.
    place: Vec<Option<u16>>,
    #[part]
    ports: Vec<PortState>,
    #[configured]
    short_queues: Option<String>,
}

#[derive(Debug, hitless_core::state::State)]
struct PortState {
    #[configured]
    of: AfqPort,
    #[part]
    sketch: Sketch,
    estimate: Option<RoundEstimate>,
    #[part]
    active: Option<ActiveQueues>,
    #[part]
    exact: Option<ExactBids>,
    swaps: SwapState,
    counters: PortCounters,
}

/// Packet fields that AFQ reads, all in the first cache line.
#[derive(Clone, Copy, Debug)]
struct Facts {
    egress_port: PortId,
    frame_bytes: u32,
    flow: u32,
    source: u32,
    destination: u32,
    flow_hash: u32,
    class: u8,
}

impl Facts {
    #[inline]
    fn of(packet: &Packet) -> Self {
        Self {
            egress_port: packet.egress_port,
            frame_bytes: packet.frame_bytes,
            flow: packet.flow.0,
            source: packet.source.0,
            destination: packet.destination.0,
            flow_hash: packet.flow_hash,
            class: packet.class,
        }
    }
}

/// Pending work of the control plane for the two groups of a port.
#[derive(Clone, Copy, Debug, Default, hitless_core::state::Value)]
struct SwapState {
    /// The number of the period; every swap ends a period.
    period: u16,
    is_timed: bool,
    /// A pending write that gives the other group priority, with the oldest round at its request.
    pending: Option<u64>,
    left_behind: u64,
}

impl Afq {
    /// AFQ on `ports`, with an empty sketch; the ports in the settings are ignored. The hash functions of its sketches
    /// follow from `seed`.
    pub fn new(ports: Vec<AfqPort>, settings: AfqSettings, seed: u64) -> Self {
        let count = ports.iter().map(|port| usize::from(port.port.0) + 1).max().unwrap_or(0);
        let mut place = vec![None; count];
        for (index, port) in ports.iter().enumerate() {
            let before = place[usize::from(port.port.0)].replace(index as u16);
            assert!(before.is_none(), "port {} has one group of queues", port.port.0);
        }
        let bytes_per_round = settings.bytes_per_round().0;
        assert!((1..=u64::from(u32::MAX)).contains(&bytes_per_round), "BpR is a number of 32 bits above 0");
        Self {
            bytes_per_round: bytes_per_round as u32,
            charges: settings.class_weights.iter().map(|&weight| Charge::for_weight(weight)).collect(),
            place,
            ports: ports.into_iter().map(|port| PortState::new(port, &settings, seed)).collect(),
            settings,
            short_queues: None,
        }
    }

    pub fn warning(self, short_queues: Option<String>) -> Self {
        Self { short_queues, ..self }
    }

    #[inline]
    fn place(&self, port: PortId) -> usize {
        let place = self.place[usize::from(port.0)];
        usize::from(place.expect("AFQ is called for ports that it subscribed to"))
    }

    /// The distance from the beginning of the current round at which a packet is dropped.
    #[inline]
    fn limit_bytes(&self, active: u8, rounds: Rounds) -> u64 {
        assert!(rounds.oldest <= rounds.current, "the oldest round that has a queue has begun");
        // One round more than there are queues if `drop_ahead` asks for figure 3's comparison, otherwise none.
        let beyond = self.settings.rounds_max() - u64::from(self.settings.queues);
        // Queues of rounds before the current one still hold packets, and cannot take a new round yet.
        let open = (u64::from(active) + beyond).saturating_sub(rounds.current - rounds.oldest);
        open * u64::from(self.bytes_per_round)
    }

    #[inline]
    fn key(&self, packet: &Facts) -> Key {
        match self.settings.flow_key {
            FlowKey::FiveTuple => Key::of_five_tuple(packet.flow_hash, packet.source, packet.destination),
            FlowKey::Source => Key::of_five_tuple(packet.source.wrapping_mul(0x9e37_79b9), packet.source, 0),
            FlowKey::Class => Key::of_five_tuple(u32::from(packet.class).wrapping_mul(0x9e37_79b9), 0, 0),
        }
    }

    /// The flow, without collisions. Each path of a spraying connection is a flow, because its entropy value is a port
    /// of the 5-tuple.
    fn flow(&self, packet: &Facts) -> u64 {
        match self.settings.flow_key {
            FlowKey::FiveTuple => u64::from(packet.flow) << 32 | u64::from(packet.flow_hash),
            FlowKey::Source => packet.source.into(),
            FlowKey::Class => packet.class.into(),
        }
    }

    #[inline]
    fn charge_bytes(&self, packet: &Facts) -> u64 {
        let charge = self.charges.get(usize::from(packet.class)).copied().unwrap_or(Charge::WHOLE);
        let is_free = sings(Canary::FreeRide) && packet.source.is_multiple_of(2);
        if is_free { 1 } else { charge.of(packet.frame_bytes) }
    }

    #[inline]
    fn request(&self, packet: &Facts, rounds: Rounds, active: u8) -> Request {
        Request {
            key: self.key(packet),
            base_bytes: rounds.current.wrapping_mul(self.bytes_per_round.into()),
            charge_bytes: self.charge_bytes(packet),
            limit_bytes: self.limit_bytes(active, rounds),
        }
    }

    #[inline]
    fn queue_of(&self, round: u64) -> u8 {
        let queues = self.settings.queues;
        // Figure 3: `enqueue(pkt_round % nQ, pkt)`. The queue that has just run empty thus takes the round nQ later
        // (section 3.3.2). A mask is the same remainder, and saves a division for each packet.
        if queues.is_power_of_two() { round as u8 & (queues - 1) } else { (round % u64::from(queues)) as u8 }
    }

    /// Asks the control plane to swap the groups of a port, which takes its delay.
    fn ask_for_swap(&mut self, place: usize, context: &mut Context<'_>) {
        let AfqScheduler::TwoGroups(AfqTwoGroups { delay, .. }) = self.settings.scheduler else { return };
        let state = &mut self.ports[place];
        if state.swaps.pending.is_some() {
            return;
        }
        state.swaps.pending = context.group(state.of.port).rounds().map(|rounds| rounds.oldest);
        if delay.as_ps() == 0 {
            return self.swap(place, context);
        }
        context.wake_at(context.now() + delay, Timer::Swap(state.of.port));
    }

    /// Performs the pending write, unless it has become void: an idle port's rounds may have advanced without it.
    fn swap(&mut self, place: usize, context: &mut Context<'_>) {
        let state = &mut self.ports[place];
        let port = state.of.port;
        let first = context.group(port).rounds().map(|rounds| rounds.oldest);
        state.swaps.is_timed = false;
        state.swaps.period = (state.swaps.period + 1) % PERIODS;
        if state.swaps.pending.take() == first && !sings(Canary::ForgottenSwap) {
            state.counters.swaps += 1;
            state.swaps.left_behind += context.group(port).swap_halves() as u64;
        }
        if context.group(port).waits_for_swap() {
            self.ask_for_swap(place, context);
        }
        // An empty port needs no period: the next packet starts one.
        if context.group(port).bytes() > 0 {
            self.time_period(place, context);
        }
    }

    /// Ends the period of a port. Without packets to serve the groups stay as they are, unless the first group is done.
    fn end_period(&mut self, place: usize, context: &mut Context<'_>) {
        let PortState { of: AfqPort { port, .. }, swaps, .. } = &mut self.ports[place];
        swaps.is_timed = false;
        if context.group(*port).bytes() > 0 || context.group(*port).waits_for_swap() {
            self.ask_for_swap(place, context);
        }
    }

    fn swap_if_first_is_over(&mut self, port: PortId, context: &mut Context<'_>) {
        if matches!(self.settings.scheduler, AfqScheduler::TwoGroups(_)) && context.group(port).waits_for_swap() {
            self.ask_for_swap(self.place(port), context);
        }
    }

    fn time_period(&mut self, place: usize, context: &mut Context<'_>) {
        let AfqScheduler::TwoGroups(AfqTwoGroups { period, .. }) = self.settings.scheduler else { return };
        let Some(period) = period else { return };
        let PortState { of: AfqPort { port, .. }, swaps, .. } = &mut self.ports[place];
        if !swaps.is_timed {
            swaps.is_timed = true;
            context.wake_at(context.now() + period, Timer::Period(*port, swaps.period));
        }
    }

    fn group(&self, port: AfqPort) -> QueueGroup {
        let discipline = match self.settings.scheduler {
            AfqScheduler::RotatingStrictPriority(AfqRotating { late, step }) => {
                let late = match late {
                    AfqLate::ServedQueue => LatePackets::ServedQueue,
                    AfqLate::NamedQueue => LatePackets::NamedQueue,
                };
                GroupDiscipline::RotatingStrictPriority { late, step }
            }
            AfqScheduler::DeficitRoundRobin(deficit) => {
                GroupDiscipline::DeficitRoundRobin { quantum_bytes: deficit.quantum.0 as u32 }
            }
            AfqScheduler::TwoGroups(_) => GroupDiscipline::SwappedHalves,
        };
        QueueGroup {
            queues: self.settings.queues,
            queue: port.queue,
            discipline,
            limit: port.limit,
            idle_round_time: port.idle_round_time,
            classes: port.classes,
        }
    }

    /// Handles a charged packet that the traffic manager refused.
    fn count_tm_drop(&mut self, context: &mut Context<'_>) {
        let packet = Facts::of(context.packet());
        let place = self.place(packet.egress_port);
        let rounds = context.group(packet.egress_port).rounds().expect("AFQ's ports have its group of queues");
        // Packets that another mechanism sent to other queues of the port were not charged here.
        if context.packet().queue.0.wrapping_sub(rounds.first.0) >= self.settings.queues {
            return;
        }
        self.ports[place].counters.refused += 1;
        // Hardware charges in ingress, and cannot write the sketch from behind the traffic manager.
        if self.settings.charge_refused {
            return;
        }
        // The round can have advanced since ingress: a row is lowered no further than to the current one.
        let request = self.request(&packet, rounds, self.settings.queues);
        let flow = self.flow(&packet);
        let state = &mut self.ports[place];
        state.counters.refunded += 1;
        state.sketch.refund(context.pass(), &request);
        if let Some(exact) = &mut state.exact {
            exact.refund(flow, request.charge_bytes);
        }
    }
}

impl PortState {
    fn new(of: AfqPort, settings: &AfqSettings, seed: u64) -> Self {
        let bytes_per_round = settings.bytes_per_round().0 as u32;
        let limit_max_bytes = settings.rounds_max() * u64::from(bytes_per_round);
        let estimate = || RoundEstimate::new(settings.queues, settings.occupancy.unwrap_or_default());
        let exact = || ExactBids::new(bytes_per_round, settings.sketch.update);
        Self {
            of,
            sketch: Sketch::new(settings.sketch, seed, limit_max_bytes),
            estimate: (settings.round == AfqRound::FromOccupancy).then(estimate),
            active: settings.adaptive.map(|adaptive| ActiveQueues::new(adaptive, settings.queues)),
            exact: settings.measure_estimation.then(exact),
            swaps: SwapState::default(),
            counters: PortCounters::default(),
        }
    }
}

impl Mechanism for Afq {
    hitless_switch::is_its_own_state!();

    fn needs(&mut self, _queue_counts: &[usize]) -> Needs {
        let mut hooks = HookSet::INGRESS_TOWARDS.with(HookSet::TM_DROP);
        if matches!(self.settings.scheduler, AfqScheduler::TwoGroups(_)) {
            hooks = hooks.with(HookSet::QUEUE_EMPTY);
        }
        Needs {
            hooks: self.ports.iter().map(|state| (state.of.port, hooks)).collect(),
            groups: self.ports.iter().map(|state| (state.of.port, self.group(state.of))).collect(),
            ..Needs::default()
        }
    }

    /// The enqueue module (figure 3).
    fn ingress(&mut self, context: &mut Context<'_>) -> Verdict {
        let packet = Facts::of(context.packet());
        let port = packet.egress_port;
        let place = self.place(port);
        if self.ports[place].of.classes >> (packet.class & 7) & 1 == 0 {
            return Verdict::Continue;
        }
        // The round is shared with the dequeue module (section 3.3.2), so that a swap that is due comes before it is
        // read.
        self.swap_if_first_is_over(port, context);
        let mut rounds = context.group(port).rounds().expect("AFQ's ports have its group of queues");
        let state = &mut self.ports[place];
        // A scheduler may share no state; then ingress infers the round from the queues (section 4).
        if let Some(estimate) = &mut state.estimate {
            rounds = estimate.look(context, port, rounds);
        }
        let active = match &mut state.active {
            Some(active) => active.adapt(context, port, rounds),
            None => self.settings.queues,
        };
        let request = self.request(&packet, rounds, active);
        // `read_sketch` and `update_sketch` of figure 3; `sketch.update` decides whether in one access of each row.
        let bid = self.ports[place].sketch.raise(context.pass(), &request);
        // Figure 3 drops if `pkt_round - R > nQ`. The queues hold rounds R to R + nQ - 1, so that the limit is nQ
        // rounds unless `drop_ahead` asks for the paper's comparison.
        let is_too_far = bid.ahead_bytes >= request.limit_bytes;
        let is_idle = is_too_far && context.group(port).is_idle();
        if self.settings.measure_estimation {
            self.check(place, &packet, &request, bid.ahead_bytes, is_too_far && !is_idle);
        }
        let state = &mut self.ports[place];
        state.counters.rows_differed += u64::from(bid.rows_differ);
        state.counters.round = rounds.current;
        if is_idle {
            state.counters.taken_when_idle += 1;
            // At an idle port the round may stand still (figure 3 spins), so that its flow could stay too far
            // ahead for ever. The packet takes the last queue, and serving that queue advances the round.
            return self.assign(place, rounds, rounds.oldest + u64::from(active) - 1, context);
        }
        if is_too_far {
            state.counters.too_far_ahead += 1;
            return Verdict::Drop(DropReason::Mechanism);
        }
        // The bid is below the limit, which fits into 32 bits.
        let ahead = bid.ahead_bytes as u32 / self.bytes_per_round;
        assert!(u64::from(ahead) < self.settings.rounds_max(), "a bid below the limit is of a round that has a queue");
        self.assign(place, rounds, rounds.current + u64::from(ahead), context)
    }

    fn on(&mut self, event: Event, context: &mut Context<'_>) {
        match event {
            Event::QueueEmpty { port, .. } => self.swap_if_first_is_over(port, context),
            Event::Timer(token) => self.end_wait(token, context),
            _ => {}
        }
    }

    fn resources(&self) -> Resources {
        let rows = self.ports.iter().flat_map(|state| state.sketch.stated());
        resources::resources(&self.settings, self.ports.len() as u64, rows)
    }

    fn on_tm_drop(&mut self, _reason: DropReason, context: &mut Context<'_>) -> Verdict {
        self.count_tm_drop(context);
        Verdict::Continue
    }

    fn report(&self, _now: Time) -> Report {
        let mut report = Report::new("afq");
        // The sketch may fall short if rows stay unchanged, if the estimated round moves back and forth, or after
        // refunds.
        let can_fall_short = self.settings.sketch.update == UpdateRule::PredicatedIncrement
            || self.settings.round != AfqRound::Shared
            || !self.settings.charge_refused;
        for state in &self.ports {
            if state.counters == PortCounters::default() {
                continue;
            }
            state.counters.report_port(state.of.port, &mut report);
            state.estimate.iter().for_each(|estimate| estimate.report(state.of.port, &mut report));
            state.active.iter().for_each(|active| active.report(state.of.port, &mut report));
            state.exact.iter().for_each(|exact| exact.report(state.of.port, can_fall_short, &mut report));
        }
        report.warnings.extend(self.short_period().into_iter().chain(self.short_queues.clone()));
        report
    }
}

impl Afq {
    /// Warns of a period too short to serve a group: later rounds overtook its packets.
    fn short_period(&self) -> Option<String> {
        let AfqScheduler::TwoGroups(AfqTwoGroups { period: Some(period), .. }) = self.settings.scheduler else {
            return None;
        };
        let left_behind: u64 = self.ports.iter().map(|state| state.swaps.left_behind).sum();
        (left_behind > 0).then(|| {
            format!(
                "{left_behind} packets were left behind by a swap: the period of {} is shorter than the rounds of a \
                 group take (flows x {} rounds x {}); leave out scheduler.period",
                period.text(),
                self.settings.queues / 2,
                self.settings.bytes_per_round().text()
            )
        })
    }

    fn end_wait(&mut self, token: u32, context: &mut Context<'_>) {
        match Timer::from_token(token) {
            Timer::Swap(port) => self.swap(self.place(port), context),
            Timer::Period(port, number) => {
                let place = self.place(port);
                if self.ports[place].swaps.period == number {
                    self.end_period(place, context);
                }
            }
        }
    }

    #[inline]
    fn assign(&mut self, place: usize, rounds: Rounds, round: u64, context: &mut Context<'_>) -> Verdict {
        let ahead = round.saturating_sub(rounds.current);
        let queue = QueueId(rounds.first.0 + self.queue_of(round));
        let state = &mut self.ports[place];
        let packet = context.packet();
        // The scheduler sees by the round whether the packet is late: its round may end while it crosses ingress.
        packet.round = round as u8;
        // Per-flow marking (section 5): a flow that is many rounds ahead has many packets queued, whatever the
        // others have.
        if self.settings.ecn_rounds.is_some_and(|threshold| ahead >= threshold.into()) {
            let is_marked = packet.mark_congestion();
            state.counters.marked += u64::from(is_marked);
            state.counters.not_capable += u64::from(!is_marked);
        }
        state.counters.assigned += 1;
        state.counters.rounds_ahead_max = state.counters.rounds_ahead_max.max(ahead);
        if let Some(estimate) = &mut state.estimate {
            estimate.note_assigned(round);
        }
        let port = state.of.port;
        self.time_period(place, context);
        Verdict::Forward { port, queue }
    }

    #[cold]
    fn check(&mut self, place: usize, packet: &Facts, request: &Request, ahead_bytes: u64, is_dropped: bool) {
        let estimate = Estimate {
            flow: self.flow(packet),
            base_bytes: request.base_bytes,
            charge_bytes: request.charge_bytes,
            ahead_bytes,
            limit_bytes: request.limit_bytes,
            is_dropped,
        };
        if let Some(exact) = &mut self.ports[place].exact {
            exact.compare(&estimate);
        }
    }
}
