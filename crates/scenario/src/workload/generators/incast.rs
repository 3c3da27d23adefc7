//! Queries that many hosts answer at the same moment.

use hitless_engine::Stream;
use hitless_engine::draws::below;
use hitless_wire::{HostId, Time};

use super::template::{Arrivals, Template};
use crate::workload::{Asking, FlowSpec, Offer};

/// The answers to a query.
#[derive(Clone, Copy, Debug)]
pub struct Answers {
    /// Their number.
    pub fan_in: u32,
    /// Payload of each.
    pub bytes: u64,
    /// Whether a server may give several; otherwise each gives one at most.
    pub servers_repeat: bool,
}

/// Incast queries: each has a random client and `fan_in` random servers.
#[derive(Clone, Debug)]
pub struct IncastGenerator {
    template: Template,
    arrivals: Arrivals,
    left: Option<u64>,
    clients: Vec<HostId>,
    servers: Vec<HostId>,
    shape: Answers,
    stream: Stream,
    asking: Option<Asking>,
    query: u64,
    start: Option<Time>,
    /// Answers of the current query that are still to be given out, last first.
    answers: Vec<FlowSpec>,
}

impl IncastGenerator {
    /// At most `count` queries. `None` when some client would find too few other hosts among `servers`, `fan_in` of
    /// them or one that repeats, or when nobody asks or answers.
    pub fn new(
        template: Template,
        (arrivals, count): (Arrivals, Option<u64>),
        clients: Vec<HostId>,
        mut servers: Vec<HostId>,
        shape: Answers,
        stream: Stream,
    ) -> Option<Self> {
        servers.sort_unstable();
        servers.dedup();
        let needed = if shape.servers_repeat { 1 } else { shape.fan_in as usize };
        let others = |client: &HostId| servers.len() - usize::from(servers.binary_search(client).is_ok());
        if shape.fan_in == 0 || clients.is_empty() || clients.iter().any(|client| others(client) < needed) {
            return None;
        }
        let answers = Vec::with_capacity(shape.fan_in as usize);
        let (left, query, start) = (count, 0, None);
        Some(Self { template, arrivals, left, clients, servers, shape, stream, asking: None, query, start, answers })
    }

    /// The client asks each server.
    pub fn asked(self, asking: Option<Asking>) -> Self {
        Self { asking, ..self }
    }

    /// What it asks of a fabric until `end`.
    pub fn offer(&self, end: Time) -> Offer {
        let Answers { fan_in, bytes, .. } = self.shape;
        Offer::arriving(self.arrivals, &self.template, self.left, end, fan_in.into(), bytes as f64)
    }

    /// Whether neither a count nor a time ends it.
    pub fn is_endless(&self) -> bool {
        self.left.is_none() && self.template.stop.is_none()
    }

    fn next_query(&mut self) -> Option<()> {
        if self.left == Some(0) {
            return None;
        }
        let start = self.arrivals.next(&mut self.stream, self.template.start, self.start);
        if self.template.is_over(start) {
            self.left = Some(0);
            return None;
        }
        self.start = Some(start);
        self.left = self.left.map(|left| left - 1);
        self.draw_answers(start);
        self.query += 1;
        Some(())
    }

    fn draw_answers(&mut self, start: Time) {
        let client = self.clients[below(&mut self.stream, self.clients.len())];
        let mut drawn = 0;
        while self.answers.len() < self.shape.fan_in as usize {
            let server = self.draw_server(drawn);
            drawn += 1;
            if server != client {
                let answer = self.template.sized(server, client, self.shape.bytes, start);
                let request = self.asking.as_mut().map(Asking::request);
                self.answers.push(FlowSpec { query: Some(self.query), request, ..answer });
            }
        }
        self.answers.reverse();
    }

    /// Any server, or one beside the `drawn` ones of this query, which a partial Fisher-Yates shuffle has put in front.
    fn draw_server(&mut self, drawn: usize) -> HostId {
        let taken = if self.shape.servers_repeat { 0 } else { drawn };
        let chosen = taken + below(&mut self.stream, self.servers.len() - taken);
        self.servers.swap(taken, chosen);
        self.servers[taken]
    }
}

impl Iterator for IncastGenerator {
    type Item = FlowSpec;

    fn next(&mut self) -> Option<FlowSpec> {
        if self.answers.is_empty() {
            self.next_query()?;
        }
        self.answers.pop()
    }
}
