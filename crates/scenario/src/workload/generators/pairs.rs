//! Flows between random hosts, at random moments or at regular ones.

use hitless_engine::Stream;
use hitless_engine::draws::below;
use hitless_network::topology::{SwitchId, Topology};
use hitless_wire::{HostId, Time};

use super::template::{Arrivals, Template};
use crate::workload::{Asking, FlowSpec, Offer, SizeSampler};

/// Draws a sender and a receiver.
#[derive(Clone, Debug)]
pub struct PairSampler {
    sources: Vec<HostId>,
    destinations: Vec<HostId>,
    /// By host: its switch, when sender and receiver must hang on different ones.
    switches: Option<Vec<SwitchId>>,
}

impl PairSampler {
    /// Senders from `sources`, receivers from `destinations`, never the same host, and on different switches if
    /// `across_switches`. `None` when some sender would have no receiver.
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
#[derive(Clone, Debug)]
pub struct PairGenerator {
    template: Template,
    arrivals: Arrivals,
    left: Option<u64>,
    pairs: PairSampler,
    sizes: SizeSampler,
    stream: Stream,
    previous: Option<Time>,
    /// Open connections between two hosts of which a flow takes one.
    connections: Option<u32>,
    asking: Option<Asking>,
}

hitless_state::state!(PairGenerator {
    values: left, stream, previous;
    parts: asking;
    configured: template, arrivals, pairs, sizes, connections
});

impl PairGenerator {
    /// Flows as they arrive, at most `count`.
    pub fn new(
        template: Template,
        arrivals: Arrivals,
        count: Option<u64>,
        pairs: PairSampler,
        sizes: SizeSampler,
        stream: Stream,
    ) -> Self {
        Self { template, arrivals, left: count, pairs, sizes, stream, previous: None, connections: None, asking: None }
    }

    /// Flows that are messages on open connections: each takes one at random of so many that its hosts have.
    pub fn on_connections(self, connections: Option<u32>) -> Self {
        Self { connections, ..self }
    }

    /// Flows that are answers: each receiver asks first.
    pub fn asked(self, asking: Option<Asking>) -> Self {
        Self { asking, ..self }
    }

    /// How many flows are left, if there is a limit.
    pub fn left(&self) -> Option<u64> {
        self.left
    }

    /// What it asks of a fabric until `end`.
    pub fn offer(&self, end: Time) -> Offer {
        Offer::arriving(self.arrivals, &self.template, self.left, end, 1.0, self.sizes.mean_bytes())
    }

    /// How many flows can follow each other from the start until `end` on a line of `line_bps`.
    pub fn offer_in_turn(&self, end: Time, line_bps: f64, gap_s: f64) -> Offer {
        let each_s = 8.0 * self.sizes.mean_bytes() / line_bps + gap_s;
        let most = self.left.map_or(f64::INFINITY, |left| left as f64);
        Offer { flows: (self.template.seconds_until(end) / each_s).min(most), ..Offer::default() }
    }

    /// Whether neither a count nor a time ends it.
    pub fn is_endless(&self) -> bool {
        self.left.is_none() && self.template.stop.is_none()
    }
}

impl Iterator for PairGenerator {
    type Item = FlowSpec;

    fn next(&mut self) -> Option<FlowSpec> {
        if self.left == Some(0) {
            return None;
        }
        let start = self.arrivals.next(&mut self.stream, self.template.start, self.previous);
        if self.template.is_over(start) {
            self.left = Some(0);
            return None;
        }
        self.previous = Some(start);
        self.left = self.left.map(|left| left - 1);
        let (source, destination) = self.pairs.draw(&mut self.stream);
        let bytes = self.sizes.sample(&mut self.stream);
        let connection = self.connections.map(|count| below(&mut self.stream, count as usize) as u32);
        let request = self.asking.as_mut().map(Asking::request);
        Some(FlowSpec { connection, request, ..self.template.sized(source, destination, bytes, start) })
    }
}
