//! When a run hands over rows, and the rows at its end.

use hitless_core::wire::Time;

use super::edge::Edge;
use super::event_loop::Run;
use super::global::Global;
use super::rows::Rows;
use super::streaming::hand_over_of;
use crate::results::Table;

impl<E: Edge> Run<E> {
    /// Hands over the flows that have ended, if there are enough. Outlined, because inlining it would cost the event
    /// loop registers.
    #[cold]
    #[inline(never)]
    pub(super) fn hand_over_rows(&mut self) {
        let Self { global, network, now, .. } = self;
        let Global { scenario, flow_starts, samplers, streaming: Some(streaming), totals, .. } = global else { return };
        if !streaming.is_due(network.shared.records.flows.len()) {
            return;
        }
        samplers.add_ended(network);
        let over = hand_over_of(&mut [network], *now, scenario, flow_starts.specs(), streaming, totals);
        over.into_iter().for_each(|flow| flow_starts.let_go(flow));
    }

    /// Completes the records of all remaining flows. Returns the tables of flows and messages, if the run keeps them.
    pub(super) fn settle_records(&mut self, ended_at: Time) -> Vec<Table> {
        let Self { global: Global { scenario, flow_starts, streaming, totals, .. }, network, .. } = self;
        if let Some(streaming) = streaming {
            network.shared.records.flows.merge(std::mem::take(&mut streaming.waiting));
        }
        network.shared.records.flows.join(ended_at);
        let records = &network.shared.records.flows;
        records.flows.iter().for_each(|flow| totals.add(scenario, flow));
        let (specs, networks) = (flow_starts.specs(), &[&*network]);
        let rows = Rows { scenario, topology: &network.topology, specs, networks };
        match streaming {
            Some(streaming) => {
                streaming.finish(records, &rows);
                Vec::new()
            }
            None => {
                let messages = rows.messages(records.messages.iter().chain(&records.unfinished));
                vec![messages, rows.flows(records.flows.iter())]
            }
        }
    }
}
