//! Generators: iterators over flows in order of time.

mod dependents;
mod incast;
mod pairs;
mod template;

use std::iter::Peekable;

use hitless_core::engine::Stream;
use hitless_core::engine::draws::{below, unit};
use hitless_core::wire::{Duration, HostId, Time};

use super::{FlowSize, FlowSpec, Offer};

pub use dependents::{Dependent, Dependents};
pub use incast::{Answers, IncastGenerator};
pub use pairs::{PairGenerator, PairSampler, Sequence};
pub use template::{Arrivals, Starts, Template};

/// The flows of a group, in order of time.
#[derive(Clone, Debug)]
pub enum Generator {
    /// Flows between random hosts.
    Pairs(Box<PairGenerator>),
    /// Incast queries.
    Incast(Box<IncastGenerator>),
    /// Flows known in advance.
    Listed(std::vec::IntoIter<FlowSpec>),
    /// Flows with start times that depend on the run; as an iterator it is empty.
    Sequence(Box<Sequence>),
    /// Flows known in advance, and flows that wait for others of the group, which the iterator omits.
    Dependent(std::vec::IntoIter<FlowSpec>, Vec<Dependent>),
}

impl Generator {
    /// Makes a generator of known flows; sorts them by time.
    pub fn listed(mut flows: Vec<FlowSpec>) -> Self {
        flows.sort_by_key(|flow| flow.start);
        Generator::Listed(flows.into_iter())
    }

    /// Makes a generator of known flows and of flows that wait for them; sorts the former by time.
    pub fn with_dependents(mut flows: Vec<FlowSpec>, dependents: Vec<Dependent>) -> Self {
        flows.sort_by_key(|flow| flow.start);
        Generator::Dependent(flows.into_iter(), dependents)
    }

    /// Returns the offered load until `end`. Closed loops run as fast as a line of `line_bps` allows.
    pub fn offer(&self, end: Time, line_bps: f64) -> Offer {
        match self {
            Generator::Pairs(pairs) => pairs.starts.offer(end, 1.0, pairs.sizes.mean_bytes()),
            Generator::Incast(incast) => incast.offer(end),
            Generator::Listed(flows) => listed_offer(flows.as_slice(), end, line_bps),
            Generator::Sequence(sequence) => sequence.offer(end, line_bps),
            Generator::Dependent(flows, dependents) => {
                let open = listed_offer(flows.as_slice(), end, line_bps);
                Offer { flows: open.flows + dependents.len() as f64, ..open }
            }
        }
    }

    /// Returns whether it is a list without a flow that starts before `end`.
    pub fn is_empty_list(&self, end: Time) -> bool {
        match self {
            Generator::Listed(flows) | Generator::Dependent(flows, _) => {
                flows.as_slice().iter().all(|flow| flow.start >= end)
            }
            Generator::Pairs(_) | Generator::Incast(_) | Generator::Sequence(_) => false,
        }
    }

    /// Returns whether it can run forever.
    pub fn is_endless(&self) -> bool {
        match self {
            Generator::Pairs(pairs) => pairs.starts.are_endless(),
            Generator::Incast(incast) => incast.starts.are_endless(),
            Generator::Listed(_) | Generator::Dependent(..) => false,
            Generator::Sequence(sequence) => sequence.flows.starts.are_endless(),
        }
    }
}

/// Returns the load of listed flows. The number of flows is known. Each message has a record, and a line of `line_bps`
/// limits their number until `end`.
fn listed_offer(flows: &[FlowSpec], end: Time, line_bps: f64) -> Offer {
    let messages = flows.iter().map(|flow| messages_until(flow, end, line_bps)).sum();
    let bytes = flows.iter().map(bytes_of);
    Offer { flows: messages, open_flows: flows.len() as f64, bytes: bytes.sum(), seconds: 0.0 }
}

fn bytes_of(flow: &FlowSpec) -> f64 {
    match flow.size {
        FlowSize::Bytes(bytes) => bytes as f64,
        FlowSize::Unlimited => 0.0,
    }
}

fn messages_until(flow: &FlowSpec, end: Time, line_bps: f64) -> f64 {
    let end = flow.stop.map_or(end, |stop| stop.min(end));
    let window_s = end.saturating_since(flow.start).as_seconds();
    let each_s = flow.messages.gap.as_seconds() + 8.0 * bytes_of(flow) / line_bps;
    let in_time = if each_s > 0.0 { (window_s / each_s).ceil() } else { f64::INFINITY };
    in_time.max(1.0).min(flow.messages.count as f64)
}

impl Iterator for Generator {
    type Item = FlowSpec;

    fn next(&mut self) -> Option<FlowSpec> {
        match self {
            Generator::Pairs(pairs) => pairs.next(),
            Generator::Incast(incast) => incast.next(),
            Generator::Listed(flows) | Generator::Dependent(flows, _) => flows.next(),
            Generator::Sequence(_) => None,
        }
    }
}

/// All flows of a run with known start times, in order of time; flows with the same start are in the order of the
/// groups.
#[derive(Clone, Debug)]
pub struct Workload {
    groups: Vec<Peekable<Generator>>,
    sequences: Vec<Sequence>,
    dependents: Dependents,
    messages: f64,
}

impl Workload {
    /// Merges the flows of all `groups`, for a run that ends at `end` at the latest.
    pub(super) fn merge(groups: Vec<Generator>, end: Time) -> Self {
        let of_group = |group: &Generator| match group {
            Generator::Sequence(_) => 0.0,
            Generator::Dependent(_, dependents) => group.offer(end, f64::INFINITY).flows - dependents.len() as f64,
            _ => group.offer(end, f64::INFINITY).flows,
        };
        let messages = groups.iter().map(of_group).sum();
        let sequence = |group: &Generator| match group {
            Generator::Sequence(sequence) => Some((**sequence).clone()),
            _ => None,
        };
        let sequences = groups.iter().filter_map(sequence).collect();
        let mut dependents = Dependents::default();
        for group in &groups {
            if let Generator::Dependent(_, of_group) = group {
                dependents.add(of_group.clone());
            }
        }
        Self { groups: groups.into_iter().map(Iterator::peekable).collect(), sequences, dependents, messages }
    }

    /// Estimates the number of messages, without flows of sequences and dependent flows.
    pub fn messages(&self) -> f64 {
        self.messages
    }

    /// Takes the groups of sequences, for the part of the run that knows when a flow is complete.
    pub fn take_sequences(&mut self) -> Vec<Sequence> {
        std::mem::take(&mut self.sequences)
    }

    /// Takes the flows that wait for others, for the part of the run that knows when a flow is complete.
    pub fn take_dependents(&mut self) -> Dependents {
        std::mem::take(&mut self.dependents)
    }
}

impl Iterator for Workload {
    type Item = FlowSpec;

    fn next(&mut self) -> Option<FlowSpec> {
        // There are few groups, so a scan is faster than a heap. With equal starts the first group wins.
        let starts = self.groups.iter_mut().enumerate().filter_map(|(index, group)| Some((group.peek()?.start, index)));
        let (_, index) = starts.min()?;
        self.groups[index].next()
    }
}

/// Pairs hosts in order; the shorter list is repeated. Pair n starts n times `spacing` after the group.
pub fn paired(
    template: &Template,
    sources: &[HostId],
    destinations: &[HostId],
    spacing: Duration,
) -> Vec<(HostId, HostId, Time)> {
    let count = sources.len().max(destinations.len());
    let pairs = sources.iter().cycle().zip(destinations.iter().cycle()).take(count);
    let nth = |number: usize| Duration::from_ps(spacing.as_ps().saturating_mul(number as u64));
    pairs.enumerate().map(|(number, (&from, &to))| (from, to, template.after(nth(number)))).collect()
}

/// Draws a random cyclic permutation of `hosts` (Sattolo's algorithm): no host sends to itself. Each flow starts at
/// random within `spread`.
pub fn permutation(
    template: &Template,
    hosts: &[HostId],
    bytes: u64,
    spread: Duration,
    stream: &mut Stream,
) -> Vec<FlowSpec> {
    let mut targets = hosts.to_vec();
    for last in (1..targets.len()).rev() {
        targets.swap(last, below(stream, last));
    }
    let pairs = hosts.iter().zip(targets);
    pairs.map(|(&from, to)| template.sized(from, to, bytes, template.after(spread.scaled(unit(stream))))).collect()
}

/// Pairs each host with each other host, in the order of the shifts: no shift gives a host two senders.
pub fn all_to_all(hosts: &[HostId]) -> impl Iterator<Item = (HostId, HostId)> {
    let pairs = |shift: usize| hosts.iter().copied().zip(hosts.iter().copied().cycle().skip(shift));
    (1..hosts.len()).flat_map(pairs)
}

#[cfg(test)]
mod tests;
