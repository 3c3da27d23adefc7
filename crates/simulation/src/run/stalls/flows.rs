//! The flows that have not ended or that gave up, and what each waits for.

use std::collections::{BTreeMap, BTreeSet};

use hitless_core::engine::PacketHandle;
use hitless_core::wire::{FlowId, HostId, Packet, PortId, Time};
use hitless_hosts::{FlowOutcome, FlowRecord, FlowWait, ReceiverWait, TimeoutPurpose};
use hitless_scenario::network::topology::{DirectedLink, Node, SwitchId};
use hitless_scenario::workload::FlowSpec;

use super::View;
use super::gates::Gate;
use super::packets::{Packets, Stop};
use super::paths::Broken;
use crate::run::edge::Edge;

/// A flow without a packet on the way is stalled once it has been quiet for this many round trips of the idle fabric.
pub(super) const ROUND_TRIPS: u64 = 4;

/// Timeouts in a row after which a flow is stalled although a packet of it is on the way: the latest repetition.
const TIMEOUTS: u32 = 2;

/// The state of a flow, in the order of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum State {
    Stalled,
    /// Its transport gave up.
    GaveUp,
    /// It waits for the end of other flows.
    NotStarted,
    Moving,
}

impl State {
    pub const fn name(self) -> &'static str {
        match self {
            State::Stalled => "stalled",
            State::GaveUp => "gave up",
            State::NotStarted => "not started",
            State::Moving => "moving",
        }
    }
}

/// The reason why a flow has not ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cause {
    Moves,
    /// Its first packet waits at a port that can never send again.
    Gate(Gate),
    /// Its first packet waits in a queue that a mechanism holds.
    Mechanism(SwitchId, PortId),
    /// Its packets wait in the receiver's reorder buffer.
    Gap,
    Credit,
    LinkDown(DirectedLink, Time),
    NoRoute(SwitchId, HostId),
    /// Its packets were lost; at most the latest repetition is in the network.
    Lost,
    /// No timer is set.
    Nothing,
    /// The end of another flow of its group, which has this position and, once it has started, this number.
    Flow(u64, Option<FlowId>),
}

impl Cause {
    pub const fn name(self) -> &'static str {
        match self {
            Cause::Moves => "",
            Cause::Gate(_) => "paused port",
            Cause::Mechanism(..) => "mechanism",
            Cause::Gap => "reorder buffer",
            Cause::Credit => "credit",
            Cause::LinkDown(..) => "link down",
            Cause::NoRoute(..) => "no route",
            Cause::Lost => "lost",
            Cause::Nothing => "unknown",
            Cause::Flow(..) => "flow",
        }
    }
}

/// A flow that has not ended, or that gave up.
#[derive(Clone, Debug)]
pub(super) struct Waiting {
    pub state: State,
    pub cause: Cause,
    /// `None` before its start.
    pub flow: Option<FlowId>,
    pub group: usize,
    pub position: u64,
    pub source: HostId,
    pub destination: HostId,
    /// Whether its request has not arrived yet.
    pub is_request: bool,
    /// Start of the wait; [`Time::NEVER`] if unknown.
    pub since: Time,
    /// Deadline of its timer; [`Time::NEVER`] without a timer.
    pub until: Time,
    /// Timeouts since the latest progress; for a flow that gave up, all.
    pub timeouts: u64,
    pub written_bytes: u64,
    pub acknowledged_bytes: u64,
}

impl Waiting {
    /// The host that receives the packets that it waits for.
    pub(super) fn receiver(&self) -> HostId {
        if self.is_request { self.source } else { self.destination }
    }
}

/// All flows that have not ended or that gave up.
pub(super) struct Survey {
    /// In the order of state, start of the wait, and number.
    pub rows: Vec<Waiting>,
    /// Number of flows that gave up without a row: their records were handed over.
    pub gave_up_earlier: u64,
}

impl<E: Edge> View<'_, E> {
    /// Surveys all flows. Endless flows that move are left out: they last until the run ends.
    pub(super) fn survey(&self) -> Survey {
        let waits: Vec<FlowWait> = self.networks.iter().flat_map(|network| network.hosts.waits()).collect();
        let failed = self.failed();
        let stuck = self.stuck_gates();
        let receivers: Vec<_> = waits.iter().map(|wait| self.receiver(wait)).collect();
        let flows = waits.iter().map(|wait| wait.flow).chain(failed.iter().map(|record| record.flow));
        let packets = self.packets_of(flows, &self.held(&waits, &receivers));
        let of = |flow: FlowId| packets.get(&flow.0).cloned().unwrap_or_default();
        let mut rows = self.not_started(&waits);
        for (wait, receiver) in waits.iter().zip(&receivers) {
            let (state, cause) = self.judge(wait, receiver.as_ref(), &of(wait.flow), &stuck);
            if !(wait.is_endless && state == State::Moving) {
                rows.push(self.unfinished(wait, receiver.as_ref(), state, cause));
            }
        }
        let failed_ever: u64 = self.networks.iter().map(|network| network.hosts.totals().flows_failed).sum();
        let gave_up_earlier = failed_ever.saturating_sub(failed.len() as u64);
        rows.extend(failed.iter().filter_map(|record| self.gave_up(record, &of(record.flow), &stuck)));
        rows.sort_by_key(|row| (row.state, row.since, row.flow.map(|flow| flow.0), row.group, row.position));
        Survey { rows, gave_up_earlier }
    }

    /// The flows of the present records that gave up.
    fn failed(&self) -> Vec<FlowRecord> {
        let present = self.networks.iter().flat_map(|network| &network.shared.records.flows.flows);
        let waiting = self.global.streaming.iter().flat_map(|streaming| &streaming.waiting.flows);
        present.chain(waiting).filter(|record| record.outcome == FlowOutcome::Failed).copied().collect()
    }

    fn receiver(&self, wait: &FlowWait) -> Option<ReceiverWait> {
        self.hosts_with(wait.data.destination).receiver_wait(wait.flow)
    }

    /// The packets in reorder buffers, by network.
    fn held(&self, waits: &[FlowWait], receivers: &[Option<ReceiverWait>]) -> Vec<Vec<PacketHandle>> {
        let mut held = vec![Vec::new(); self.networks.len()];
        for (wait, receiver) in waits.iter().zip(receivers) {
            let number = self.division.map_or(0, |division| division.of_host(wait.data.destination));
            held[number as usize].extend(receiver.iter().flat_map(|receiver| &receiver.held));
        }
        held
    }

    /// Decides whether a flow moves, and otherwise what it waits for.
    fn judge(
        &self,
        wait: &FlowWait,
        receiver: Option<&ReceiverWait>,
        packets: &Packets,
        stuck: &BTreeSet<Gate>,
    ) -> (State, Cause) {
        const MOVES: (State, Cause) = (State::Moving, Cause::Moves);
        let repeats = wait.sender.timeouts_in_row >= TIMEOUTS;
        // Without anything to acknowledge, the application waits.
        if wait.written_bytes <= wait.acknowledged_bytes || (packets.moving > 0 && !repeats) {
            return MOVES;
        }
        let is_quiet = || {
            let quiet = self.now.saturating_since(wait.sender.quiet_since);
            quiet >= self.idle_rtt(&wait.data) * ROUND_TRIPS
        };
        let at_card = || {
            let gate = Gate { node: Node::Host(wait.data.source), port: PortId(0), class: wait.data.class & 7 };
            wait.waits_for_card.then_some(Stop::Gate(gate))
        };
        match packets.stop().or_else(at_card) {
            Some(Stop::Gate(gate)) if stuck.contains(&gate) => return (State::Stalled, Cause::Gate(gate)),
            Some(Stop::Gate(_)) => return MOVES,
            Some(Stop::Mechanism(switch, port)) if is_quiet() => {
                return (State::Stalled, Cause::Mechanism(switch, port));
            }
            Some(Stop::Gap) if is_quiet() => return (State::Stalled, Cause::Gap),
            Some(Stop::Mechanism(..) | Stop::Gap) => return MOVES,
            None => {}
        }
        if acts_soon(wait, receiver) || !(repeats || is_quiet()) {
            return MOVES;
        }
        (State::Stalled, self.cause_of_silence(wait))
    }

    fn cause_of_silence(&self, wait: &FlowWait) -> Cause {
        let broken = self.broken_both_ways(&wait.data, &wait.answer, wait.spreads);
        broken.unwrap_or(match () {
            () if wait.sender.lacks_credit => Cause::Credit,
            () if wait.timer == Time::NEVER => Cause::Nothing,
            () => Cause::Lost,
        })
    }

    fn broken_both_ways(&self, data: &Packet, answer: &Packet, spreads: bool) -> Option<Cause> {
        let broken = self.broken(data, spreads).or_else(|| self.broken(answer, spreads))?;
        Some(match broken {
            Broken::Link(link, since) => Cause::LinkDown(link, since),
            Broken::Route(switch, host) => Cause::NoRoute(switch, host),
        })
    }

    fn unfinished(&self, wait: &FlowWait, receiver: Option<&ReceiverWait>, state: State, cause: Cause) -> Waiting {
        let (data, spec) = (&wait.data, self.spec(wait.flow));
        let (source, destination) =
            if wait.is_request { (data.destination, data.source) } else { (data.source, data.destination) };
        let since = match cause {
            Cause::Gate(gate) => self.stopped_since(gate).unwrap_or(wait.sender.quiet_since),
            _ => wait.sender.quiet_since,
        };
        let until = match cause {
            Cause::Gap => receiver.map_or(Time::NEVER, |receiver| receiver.gap_until),
            Cause::Moves | Cause::Gate(_) | Cause::Mechanism(..) => Time::NEVER,
            _ => wait.timer,
        };
        Waiting {
            state,
            cause,
            flow: Some(wait.flow),
            group: wait.tag as usize,
            position: spec.map_or(0, |spec| spec.position),
            source,
            destination,
            is_request: wait.is_request,
            since,
            until,
            timeouts: wait.sender.timeouts_in_row.into(),
            written_bytes: wait.written_bytes,
            acknowledged_bytes: wait.acknowledged_bytes,
        }
    }

    fn gave_up(&self, record: &FlowRecord, packets: &Packets, stuck: &BTreeSet<Gate>) -> Option<Waiting> {
        let spec = self.spec(record.flow)?;
        let [data, answer] = self.global.flow_starts.addresses(record.flow, spec);
        let cause = match packets.stop() {
            Some(Stop::Gate(gate)) if stuck.contains(&gate) => Cause::Gate(gate),
            _ => {
                let broken = self.broken_both_ways(&data, &answer, false);
                // A link that failed later is not the cause. The time at which a route went missing is unknown.
                let is_later =
                    |cause: &Cause| matches!(cause, Cause::LinkDown(_, since) if *since > record.sender_ended);
                broken.filter(|cause| !is_later(cause)).unwrap_or(Cause::Lost)
            }
        };
        Some(Waiting {
            state: State::GaveUp,
            cause,
            flow: Some(record.flow),
            group: spec.group,
            position: spec.position,
            source: spec.source,
            destination: spec.destination,
            is_request: false,
            since: record.sender_ended,
            until: Time::NEVER,
            timeouts: record.sender.timeouts,
            written_bytes: record.bytes_written,
            acknowledged_bytes: record.bytes_acknowledged,
        })
    }

    /// The flows that wait for the end of others.
    fn not_started(&self, waits: &[FlowWait]) -> Vec<Waiting> {
        let mut held_back = self.global.flow_starts.closed_loops().held_back().peekable();
        if held_back.peek().is_none() {
            return Vec::new();
        }
        let running = |wait: &FlowWait| self.spec(wait.flow).map(|spec| ((spec.group, spec.position), wait.flow));
        let running: BTreeMap<(usize, u64), FlowId> = waits.iter().filter_map(running).collect();
        let held_back: Vec<_> = held_back.collect();
        let known: BTreeSet<(usize, u64)> = held_back.iter().map(|(spec, _)| (spec.group, spec.position)).collect();
        let row = |(spec, after): &(&FlowSpec, Vec<u64>)| {
            let of_running = |&position: &u64| Some((position, Some(*running.get(&(spec.group, position))?)));
            let of_waiting = |&position: &u64| known.contains(&(spec.group, position)).then_some((position, None));
            let found = after.iter().find_map(of_running).or_else(|| after.iter().find_map(of_waiting));
            // Otherwise the flow that it names starts later, by its own time.
            let (position, flow) = found.or(after.first().map(|&first| (first, None)))?;
            Some(not_started(spec, Cause::Flow(position, flow)))
        };
        held_back.iter().filter_map(row).collect()
    }

    pub(super) fn spec(&self, flow: FlowId) -> Option<&FlowSpec> {
        self.global.flow_starts.specs().get(flow.0 as usize)
    }
}

fn not_started(spec: &FlowSpec, cause: Cause) -> Waiting {
    Waiting {
        state: State::NotStarted,
        cause,
        flow: None,
        group: spec.group,
        position: spec.position,
        source: spec.source,
        destination: spec.destination,
        is_request: false,
        since: Time::NEVER,
        until: Time::NEVER,
        timeouts: 0,
        written_bytes: 0,
        acknowledged_bytes: 0,
    }
}

/// Whether a flow without packets will continue soon: its rate or its receiver makes it wait.
fn acts_soon(wait: &FlowWait, receiver: Option<&ReceiverWait>) -> bool {
    let paces = wait.timer != Time::NEVER && wait.purpose == TimeoutPurpose::Pacing;
    let delays_answer = receiver.is_some_and(|receiver| receiver.timer != Time::NEVER && receiver.timer <= wait.timer);
    let has_turn = wait.sender.lacks_credit && receiver.is_some_and(|receiver| receiver.has_turn);
    paces || delays_answer || has_turn
}
