//! Queries that many hosts answer at the same time.

use hitless_core::engine::Stream;
use hitless_core::engine::draws::below;
use hitless_core::wire::{HostId, Time};

use super::template::Starts;
use crate::workload::asking::Asking;
use crate::workload::{FlowSpec, Offer};

/// The answers to a query.
#[derive(Clone, Copy, Debug)]
pub struct Answers {
    pub fan_in: u32,
    /// Payload of each.
    pub bytes: u64,
    /// Whether a server can give several answers to a query.
    pub servers_repeat: bool,
}

/// Incast queries: each has a random client and `fan_in` random servers.
#[derive(Clone, Debug)]
pub struct IncastGenerator {
    pub starts: Starts,
    clients: Vec<HostId>,
    servers: Vec<HostId>,
    shape: Answers,
    stream: Stream,
    /// The requests that the client sends to each server, if any.
    asking: Option<Asking>,
    /// Answers of the current query that were not returned yet, last first.
    answers: Vec<FlowSpec>,
}

impl IncastGenerator {
    /// Makes the generator. `None` if there are no clients or servers, or if for some client `servers` contains too few
    /// other hosts: `fan_in`, or one if servers repeat.
    pub fn new(
        starts: Starts,
        clients: Vec<HostId>,
        mut servers: Vec<HostId>,
        shape: Answers,
        stream: Stream,
        asking: Option<Asking>,
    ) -> Option<Self> {
        servers.sort_unstable();
        servers.dedup();
        let needed = if shape.servers_repeat { 1 } else { shape.fan_in as usize };
        let others = |client: &HostId| servers.len() - usize::from(servers.binary_search(client).is_ok());
        if shape.fan_in == 0 || clients.is_empty() || clients.iter().any(|client| others(client) < needed) {
            return None;
        }
        let answers = Vec::with_capacity(shape.fan_in as usize);
        Some(Self { starts, clients, servers, shape, stream, asking, answers })
    }

    pub fn offer(&self, end: Time) -> Offer {
        self.starts.offer(end, self.shape.fan_in.into(), self.shape.bytes as f64)
    }

    fn draw_answers(&mut self, query: u64, start: Time) {
        let client = self.clients[below(&mut self.stream, self.clients.len())];
        let mut drawn = 0;
        while self.answers.len() < self.shape.fan_in as usize {
            let server = self.draw_server(drawn);
            drawn += 1;
            if server != client {
                let position = query * u64::from(self.shape.fan_in) + self.answers.len() as u64;
                let answer = self.starts.template.sized(server, client, self.shape.bytes, start);
                let request = self.asking.as_mut().map(Asking::request);
                self.answers.push(FlowSpec { position, query: Some(query), request, ..answer });
            }
        }
        self.answers.reverse();
    }

    /// Draws any server, or with a partial Fisher-Yates shuffle one that is not among the first `drawn`, which already
    /// answer this query.
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
            let (query, start) = self.starts.next(&mut self.stream)?;
            self.draw_answers(query, start);
        }
        self.answers.pop()
    }
}
