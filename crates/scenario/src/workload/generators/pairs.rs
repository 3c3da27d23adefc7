//! Flows between random hosts, at random or regular times.

use hitless_core::engine::Stream;
use hitless_core::engine::draws::below;
use hitless_core::wire::{Duration, HostId, Time};

use super::template::{Starts, Template};
use crate::network::topology::{SwitchId, Topology};
use crate::workload::asking::Asking;
use crate::workload::size::SizeSampler;
use crate::workload::{FlowSpec, Offer};

/// Draws a sender and a receiver.
#[derive(Clone, Debug)]
pub struct PairSampler {
    sources: Vec<HostId>,
    destinations: Vec<HostId>,
    /// The switch of each host, if sender and receiver must be on different switches.
    switches: Option<Vec<SwitchId>>,
}

impl PairSampler {
    /// Draws senders from `sources` and receivers from `destinations`, never the same host, and on different switches
    /// if `across_switches`. `None` if some sender would not have a receiver.
    pub fn new(
        topology: &Topology,
        sources: Vec<HostId>,
        destinations: Vec<HostId>,
        across_switches: bool,
    ) -> Option<Self> {
        let switch_of = |host| topology.attachment(host).0;
        let switches = across_switches.then(|| topology.host_ids().map(switch_of).collect());
        let sampler = Self { sources, destinations, switches };
        let has_receiver = |&from: &HostId| sampler.destinations.iter().any(|&to| sampler.allows(from, to));
        let usable = !sampler.sources.is_empty() && sampler.sources.iter().all(has_receiver);
        usable.then_some(sampler)
    }

    fn allows(&self, from: HostId, to: HostId) -> bool {
        let apart = |switches: &Vec<SwitchId>| switches[from.0 as usize] != switches[to.0 as usize];
        from != to && self.switches.as_ref().is_none_or(apart)
    }

    fn draw(&self, stream: &mut Stream) -> (HostId, HostId) {
        let from = self.sources[below(stream, self.sources.len())];
        loop {
            let to = self.destinations[below(stream, self.destinations.len())];
            if self.allows(from, to) {
                return (from, to);
            }
        }
    }
}

/// Flows between hosts that are drawn for each. One process for the whole group: the sum of independent Poisson
/// processes is one.
#[derive(Clone, Debug, hitless_core::state::State)]
pub struct PairGenerator {
    #[part]
    pub starts: Starts,
    #[configured]
    pub pairs: PairSampler,
    #[configured]
    pub sizes: SizeSampler,
    pub stream: Stream,
    /// Open connections between two hosts, if flows are messages on them: each takes one at random.
    #[configured]
    pub connections: Option<u32>,
    /// What receivers ask first, if flows are answers.
    #[part]
    pub asking: Option<Asking>,
}

impl Iterator for PairGenerator {
    type Item = FlowSpec;

    fn next(&mut self) -> Option<FlowSpec> {
        let (position, start) = self.starts.next(&mut self.stream)?;
        let (source, destination) = self.pairs.draw(&mut self.stream);
        let bytes = self.sizes.sample(&mut self.stream);
        let connection = self.connections.map(|count| below(&mut self.stream, count as usize) as u32);
        let request = self.asking.as_mut().map(Asking::request);
        let flow = self.starts.template.sized(source, destination, bytes, start);
        Some(FlowSpec { position, connection, request, ..flow })
    }
}

/// A group of flows with one under way at a time.
#[derive(Clone, Debug, hitless_core::state::State)]
pub struct Sequence {
    /// The flows, whatever their own times.
    #[part]
    pub(in crate::workload) flows: PairGenerator,
    /// The pause between the end of one and the start of the next.
    #[configured]
    pub(in crate::workload) gap: Duration,
}

impl Sequence {
    /// Returns the offered load until `end`, with one flow at a time.
    pub(super) fn offer(&self, end: Time, line_bps: f64) -> Offer {
        let each_s = 8.0 * self.flows.sizes.mean_bytes() / line_bps + self.gap.as_seconds();
        self.flows.starts.offer_in_turn(end, each_s)
    }

    fn template(&self) -> &Template {
        &self.flows.starts.template
    }

    pub fn group(&self) -> usize {
        self.template().group
    }

    /// Start of the first flow.
    pub fn start(&self) -> Time {
        self.template().start
    }

    /// Returns the start of the flow after a flow that ended at `time`.
    pub fn start_after(&self, time: Time) -> Time {
        Time(time.as_ps().saturating_add(self.gap.as_ps()))
    }

    /// Returns the next flow, which starts at `time`; `None` if the group has ended.
    pub fn next_at(&mut self, time: Time) -> Option<FlowSpec> {
        if self.template().is_over(time) {
            return None;
        }
        self.flows.next().map(|flow| FlowSpec { start: time, ..flow })
    }

    /// Returns the number of flows left, if there is a limit.
    pub fn left(&self) -> Option<u64> {
        self.flows.starts.left()
    }
}
