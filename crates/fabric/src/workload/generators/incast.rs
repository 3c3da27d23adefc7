//! Queries that many hosts answer at the same moment.

use hitless_engine::Stream;
use hitless_wire::{HostId, Time};

use super::{Arrivals, Template};
use crate::workload::{Asking, FlowSpec};
use hitless_engine::draws::below;

/// Incast queries: each has a random client and `fan_in` different random servers.
#[derive(Clone, Debug)]
pub struct IncastGenerator {
    template: Template,
    arrivals: Arrivals,
    left: Option<u64>,
    clients: Vec<HostId>,
    servers: Vec<HostId>,
    fan_in: usize,
    bytes: u64,
    stream: Stream,
    asking: Option<Asking>,
    query: u64,
    start: Option<Time>,
    /// Answers of the current query that are still to be given out, last first.
    answers: Vec<FlowSpec>,
}

impl IncastGenerator {
    /// At most `count` queries; every answer has `bytes`. `None` when some client would find fewer than `fan_in`
    /// other hosts among `servers`, or when nobody asks or answers.
    pub fn new(
        template: Template,
        (arrivals, count): (Arrivals, Option<u64>),
        clients: Vec<HostId>,
        mut servers: Vec<HostId>,
        (fan_in, bytes): (u32, u64),
        stream: Stream,
    ) -> Option<Self> {
        servers.sort_unstable();
        servers.dedup();
        let fan_in = fan_in as usize;
        let others = |client: &HostId| servers.len() - usize::from(servers.binary_search(client).is_ok());
        if fan_in == 0 || clients.is_empty() || clients.iter().any(|client| others(client) < fan_in) {
            return None;
        }
        let answers = Vec::with_capacity(fan_in);
        let (left, query, start) = (count, 0, None);
        Some(Self {
            template,
            arrivals,
            left,
            clients,
            servers,
            fan_in,
            bytes,
            stream,
            asking: None,
            query,
            start,
            answers,
        })
    }

    /// The client asks each server.
    pub fn asked(self, asking: Option<Asking>) -> Self {
        Self { asking, ..self }
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

    /// A partial Fisher-Yates shuffle: the first hosts of `servers` that are not the client answer.
    fn draw_answers(&mut self, start: Time) {
        let client = self.clients[below(&mut self.stream, self.clients.len())];
        for position in 0..self.servers.len() {
            if self.answers.len() == self.fan_in {
                break;
            }
            let chosen = position + below(&mut self.stream, self.servers.len() - position);
            self.servers.swap(position, chosen);
            let server = self.servers[position];
            if server != client {
                let answer = self.template.sized(server, client, self.bytes, start);
                let request = self.asking.as_mut().map(Asking::request);
                self.answers.push(FlowSpec { query: Some(self.query), request, ..answer });
            }
        }
        self.answers.reverse();
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
