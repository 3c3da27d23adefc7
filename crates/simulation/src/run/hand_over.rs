//! When a run hands over rows, and what becomes of them at its end.

use hitless_wire::Time;

use super::edge::Edge;
use super::event_loop::Run;
use super::rows::Rows;
use crate::results::Table;

impl<E: Edge> Run<E> {
    /// Hands over what has ended, if there is enough of it.
    pub(super) fn hand_over_rows(&mut self) {
        let Self { scenario, network, flow_starts, samplers, streaming, totals, now, .. } = self;
        let Some(streaming) = streaming else { return };
        if !streaming.is_due(network.shared.records.flows.len()) {
            return;
        }
        samplers.add_ended(network);
        streaming.collect(&mut network.shared.records.flows);
        let under_way = network.flows_of_packets(*now);
        let rows = Rows { scenario, topology: &network.topology, specs: flow_starts.specs(), counted: network };
        let over = streaming.hand_over(*now, under_way, &rows, totals);
        for flow in over {
            network.let_go(flow);
            flow_starts.let_go(flow);
        }
    }

    /// Joins the ends of all flows that are left; answers the tables of flows and messages, if they are kept.
    pub(super) fn settle_records(&mut self, ended_at: Time) -> Vec<Table> {
        let Self { scenario, network, flow_starts, streaming, totals, .. } = self;
        if let Some(streaming) = streaming {
            network.shared.records.flows.merge(std::mem::take(&mut streaming.waiting));
        }
        network.shared.records.flows.join(ended_at);
        let records = &network.shared.records.flows;
        records.flows.iter().for_each(|flow| totals.add(scenario, flow));
        let rows = Rows { scenario, topology: &network.topology, specs: flow_starts.specs(), counted: network };
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
